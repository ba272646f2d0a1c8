// Package lists lists the registered things that graft can use: schedulers, layers, datasets and others, each with an
// example. Entries come from the registries of the rooms, so a new thing is listed without a change here.
package lists

import (
	"strings"

	"graft/internal/registry"
)

// Kind describes a list that 'graft list' prints, such as the list of schedulers.
type Kind struct {
	Name    string // plural name, as in 'graft list'
	About   string // help text in one line
	entries func() []Entry
}

// Listing returns the name and the one-line description.
func (k Kind) Listing() (name, about string) { return k.Name, k.About }

// Entry describes an item of a list. Either Command or TOML contains an example of its use.
type Entry struct {
	Name string `json:"name"` // name in options and files
	// section of the list that contains the entry, such as the world of a scheduler; may be empty
	Of      string `json:"of"`
	About   string `json:"about"`             // help text in one line
	Command string `json:"command,omitempty"` // example of a command line; its file names stand for the user's files
	TOML    string `json:"toml,omitempty"`    // example of a file, or of a part of one
}

// Kinds returns all lists that 'graft list' prints. To add a list, add a function and a line here.
func Kinds() registry.List[Kind] {
	return registry.List[Kind]{
		{"schedulers", "choose the jobs of a cluster or tasks of a machine to run, and their placement", schedulers},
		{"deciders", "choose changes of a job's network", deciders},
		{"timings", "values of the key adapt.when, which sets the times of a job's decisions", timings},
		{"actions", "change the architecture of a network", actions},
		{"starts", "ways in which new units of a wider layer start", unitStarts},
		{"layers", "layers and containers of network files", layers},
		{"networks", "networks from the zoo", networks},
		{"datasets", "values of the key data.kind", datasets},
		{"formats", "file formats of traces, and of exports for other programs", formats},
		{"figures", "figures of runs", figures},
		{"engines", "start the workers of simulations and trials", engines},
		{"files", "kinds of configuration files, by their sections", configurations},
		{"runs", "kinds of run folders", folders},
		{"quirks", "faults of other simulators that graft can reproduce", quirks},
	}
}

// Entries returns the items of the kind.
func (k Kind) Entries() []Entry { return k.entries() }

// Example returns the example of an entry: a command line, or lines of TOML.
func (e Entry) Example() []string {
	if e.Command != "" {
		return []string{e.Command}
	}
	return strings.Split(strings.TrimSuffix(e.TOML, "\n"), "\n")
}
