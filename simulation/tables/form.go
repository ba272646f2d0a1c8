package tables

import (
	"fmt"

	"graft/internal/files"
	"graft/model"
	"graft/net2net"
)

// Form is a file format of another program's tables. The package that reads it registers it.
type Form struct {
	// Has reports whether a folder has a table of the form. It returns an error if it cannot tell.
	Has func(fsys files.FS, folder string) (bool, error)
	// Read reads the table of a folder, and the initial network of its sequences, without weights.
	Read    func(fsys files.FS, folder string) (*Table, *model.Network, error)
	Surgery net2net.Options // surgery that grew its networks
	Profile string          // built-in profile of the device that trained them
}

var forms []*Form

// RegisterForm adds a form. It is called during package initialization.
func RegisterForm(f *Form) { forms = append(forms, f) }

// ReadFolder reads the table of a folder in any form, and the initial network of its sequences. Named makes a network
// from its name. The form is nil for graft's own tables.
func ReadFolder(fsys files.FS, folder string, named func(files.FS, string) (*model.Network, error)) (*Table,
	*model.Network, *Form, error) {
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
