package tables

import (
	"fmt"

	"graft/internal/files"
	"graft/model"
	"graft/net2net"
)

// Form is a form of tables that another program wrote. The package that reads it registers it.
type Form struct {
	// Has reports whether a folder has a table of the form; it is an error if that cannot be told.
	Has func(fsys files.FS, folder string) (bool, error)
	// Read reads the table of a folder, and the network without weights that its sequences begin with.
	Read    func(fsys files.FS, folder string) (*Table, *model.Network, error)
	Surgery net2net.Options // with which its networks grew
	Profile string          // built-in profile of the device on which they trained
}

var forms []*Form

// RegisterForm adds a form. It is called while packages are initialized.
func RegisterForm(f *Form) { forms = append(forms, f) }

// ReadFolder reads the table of a folder of any form, and the network that its sequences begin with; named makes a
// network of its name. The form is nil for graft's own.
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
