package imports

import (
	"fmt"

	"graft/config"
	"graft/files"
)

// Network describes an imported network.
type Network struct {
	Name       string `json:"name"`       // the class that it prints as
	Input      string `json:"input"`      // type and sizes; those with a name may change
	Print      string `json:"print"`      // as PyTorch prints it
	Modules    int    `json:"modules"`    // the network itself among them
	Operators  int    `json:"operators"`  // that the network runs
	Parameters int    `json:"parameters"` // that an optimizer trains
}

// Show describes the network of a file that Run wrote.
func Show(fsys files.FS, path string) (*Network, error) {
	g, err := config.ReadImported(fsys, path)
	if err != nil {
		return nil, err
	}
	return &Network{g.Name, fmt.Sprint(g.Input.DType, " ", g.Input.Shape), g.String(), len(g.Modules), len(g.Nodes), g.Parameters()}, nil
}
