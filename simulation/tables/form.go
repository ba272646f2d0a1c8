package tables

import (
	"fmt"
	"path/filepath"

	"graft/internal/files"
	"graft/model"
	"graft/net2net"
)

// Form is the table format of another program. The package that reads the format registers it.
type Form struct {
	// Has reports whether a folder has a table in this format. It returns an error if it cannot decide.
	Has func(fsys files.FS, folder string) (bool, error)
	// Read reads the table of a folder, and the initial network of its sequences, without weights.
	Read    func(fsys files.FS, folder string) (*Table, *model.Network, error)
	Surgery net2net.Options // options for surgery for the table's actions
	// name of the built-in profile of the device on which the table's networks were trained
	Profile string
}

var forms []*Form

// RegisterForm adds a table format. Call RegisterForm during package initialization.
func RegisterForm(f *Form) { forms = append(forms, f) }

// ReadFolder reads the table of a folder in any format, and the initial network of its sequences. The callback named
// creates a network from its name. The returned form is nil for graft's own tables. The run folder of a simulation
// contains its table in the folder "table".
func ReadFolder(fsys files.FS, folder string, named func(files.FS, string) (*model.Network, error)) (*Table,
	*model.Network, *Form, error) {
	if inner := filepath.Join(folder, "table"); exists(fsys, filepath.Join(inner, scenarioName)) {
		folder = inner
	}
	for _, f := range forms {
		has, err := f.Has(fsys, folder)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("read table: %w", err)
		}
		if has {
			t, n, err := f.Read(fsys, folder)
			return t, n, f, err
		}
	}
	t, err := Read(fsys, folder)
	if err != nil {
		return nil, nil, nil, err
	}
	var n *model.Network
	if t.Origin != nil {
		n, err = t.Origin.Network()
	} else {
		n, err = named(fsys, t.Network)
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read table %s: %w", folder, err)
	}
	return t, n, nil, nil
}

func exists(fsys files.FS, path string) bool {
	_, err := fsys.Stat(path)
	return err == nil
}
