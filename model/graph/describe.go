package graph

import (
	"encoding/json"
	"fmt"
	"strings"
)

// SidecarName is the name of the file in which graft_export.py describes a network's modules. The file is in the folder
// "extra" of an archive, or next to the file of the network.
const SidecarName = "graft_modules.json"

// LargestSidecar is the maximum size, in bytes, of the file that SidecarName names.
const LargestSidecar = 16 << 20

// ReadModules reads the description of modules that graft_export.py writes.
func ReadModules(text []byte) ([]Module, error) {
	var file struct {
		Modules []struct {
			Path  string `json:"path"`
			Class string `json:"class"`
			Extra string `json:"extra"`
			Print string `json:"print"`
			Folds bool   `json:"folds"`
		} `json:"modules"`
	}
	if err := BoundJSON(text); err != nil {
		return nil, fmt.Errorf("read the modules of a network: %w", err)
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("read the modules of a network: %w; create the file with graft_export.py", err)
	}
	modules := make([]Module, len(file.Modules))
	for k, m := range file.Modules {
		modules[k] = Module(m)
	}
	c := &checker{modules: map[string]bool{}}
	if c.checkModules(modules); len(c.faults) > 0 {
		return nil, fmt.Errorf("read the modules of a network: %w", c.faults)
	}
	return modules, nil
}

// Describe replaces the graph's modules with the modules in a description. If a module has no description, its nodes
// belong to the nearest enclosing module that has one.
func (g *Graph) Describe(modules []Module) {
	known := make(map[string]bool, len(modules))
	for _, m := range modules {
		known[m.Path] = true
	}
	g.Modules, g.Name = modules, modules[0].Class
	for k := range g.Nodes {
		path := g.Nodes[k].Module
		for !known[path] {
			path = path[:max(strings.LastIndexByte(path, '.'), 0)]
		}
		g.Nodes[k].Module = path
	}
}
