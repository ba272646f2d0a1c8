package fabric

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"graft/cluster/fabric/graph"
	"graft/cluster/fabric/networks"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/app"
)

// GraphReport describes the graph of a training step.
type GraphReport struct {
	Model string `json:"model"` // name of the network
	// number of forward operations, which is also the number of backward operations
	Operations int             `json:"operations"`
	Edges      int             `json:"edges"`            // number of edges between forward operations
	Depth      int             `json:"depth"`            // number of operations on the longest forward path
	Forward    float64         `json:"forward_ms"`       // sum of the operations' forward times
	Backward   float64         `json:"backward_ms"`      // sum of the operations' backward times
	Activation float64         `json:"activation_bytes"` // total size of the operations' outputs
	Parameters float64         `json:"parameter_bytes"`  // total size of the operations' parameters
	Largest    []GraphLargest  `json:"largest"`          // slowest operations
	Kinds      []GraphKindPart `json:"kinds"`            // sums by kind of operation, slowest kind first
	File       string          `json:"file"`             // path of the written file; empty means none
}

// GraphLargest describes one of the slowest operations.
type GraphLargest struct {
	ID         int     `json:"id"`               // number of the operation
	Kind       string  `json:"kind"`             // kind of the operation, such as Conv2d
	Detail     string  `json:"detail"`           // arguments or the path of a layer
	Forward    float64 `json:"forward_ms"`       // forward time
	Backward   float64 `json:"backward_ms"`      // backward time
	Activation float64 `json:"activation_bytes"` // bytes of its output
	Parameters float64 `json:"parameter_bytes"`  // bytes of its parameters
}

// GraphKindPart holds the total cost of all operations of one kind.
type GraphKindPart struct {
	Kind       string  `json:"kind"`            // kind of operation, such as Conv2d
	Operations int     `json:"operations"`      // number of operations
	Time       float64 `json:"time_ms"`         // sum of forward and backward times
	Share      float64 `json:"share"`           // fraction of the step's time
	Parameters float64 `json:"parameter_bytes"` // bytes of their parameters
}

// largestShown is the number of operations that a report lists.
const largestShown = 10

// GraphOptions configures [Graph].
type GraphOptions struct {
	networks.ReadOptions        // options for a neural network that is named instead of a graph
	Out                  string // path of a .txt file in PipeDream's format, or of a .json file; empty means none
	Force                bool   // replaces an existing file
}

// Graph reads the graph of a training step and describes it. If the path Out is not empty, it also writes the graph to
// this file.
func Graph(env *app.Env, name string, o GraphOptions) (*GraphReport, error) {
	extension := strings.ToLower(filepath.Ext(o.Out))
	if o.Out != "" {
		if extension != ".txt" && extension != ".json" {
			return nil, failure.Usagef("option \"out\" is %q; expected a file name that ends in .txt (PipeDream "+
				"profile) or .json (graph)", o.Out)
		}
		if err := app.MayConvert(env.Files, name, o.Out, o.Force); err != nil {
			return nil, err
		}
		if err := app.MayWriteFile(env.Files, o.Out, o.Force); err != nil {
			return nil, err
		}
	}
	p, _, err := readGraph(env.Files, name, o.ReadOptions)
	if err != nil {
		return nil, err
	}
	r := describe(p)
	if o.Out == "" {
		return r, nil
	}
	r.File = o.Out
	write := p.WritePipeDream
	if extension == ".json" {
		write = p.WriteJSON
	}
	return r, files.WriteAtomic(env.Files, o.Out, write)
}

// usualBatch is the batch size of a network without the option to set it.
const usualBatch = 64

// readGraph reads a graph, and returns the batch size of a network; zero for a file that contains a graph, to which the
// options do not apply. Content faults have the code of a configuration.
func readGraph(fsys files.FS, name string, o networks.ReadOptions) (p *graph.Profile, batch int, err error) {
	p, err = networks.ReadGraph(fsys, name)
	switch unused := unusedOf(o); {
	case err == nil && p == nil:
		batch = cmp.Or(o.Batch, usualBatch)
		p, err = networks.Reader{Network: config.ReadNetwork, Profile: config.FindProfile}.Read(fsys, name, o)
	case err == nil && unused != "":
		return nil, 0, failure.Usagef("option %q applies to networks, but %s is a graph with its own times and sizes; "+
			"omit the option", unused, name)
	}
	var missing *fs.PathError
	if err != nil && !errors.As(err, &missing) {
		err = failure.With(failure.Configuration, err)
	}
	return p, batch, err
}

// unusedOf returns the name of the first option that is set.
func unusedOf(o networks.ReadOptions) string {
	switch {
	case o.Profile != "":
		return "profile"
	case o.Batch != 0:
		return "batch"
	case o.Size != 0:
		return "size"
	}
	return ""
}

func describe(p *graph.Profile) *GraphReport {
	r := &GraphReport{Model: p.Model, Operations: len(p.Nodes), Edges: len(p.Edges), Largest: []GraphLargest{},
		Kinds: []GraphKindPart{}}
	kinds := map[string]int{}
	for _, n := range p.Nodes {
		r.Forward += n.Forward
		r.Backward += n.Backward
		r.Activation += n.Activation
		r.Parameters += n.Parameters
		r.Largest = append(r.Largest, GraphLargest(n))
		k, ok := kinds[n.Kind]
		if !ok {
			k = len(r.Kinds)
			kinds[n.Kind] = k
			r.Kinds = append(r.Kinds, GraphKindPart{Kind: n.Kind})
		}
		r.Kinds[k].Operations++
		r.Kinds[k].Time += n.Forward + n.Backward
		r.Kinds[k].Parameters += n.Parameters
	}
	for k := range r.Kinds {
		r.Kinds[k].Share = r.Kinds[k].Time / (r.Forward + r.Backward)
	}
	slices.SortStableFunc(r.Kinds, func(a, b GraphKindPart) int { return cmp.Compare(b.Time, a.Time) })
	slices.SortStableFunc(r.Largest,
		func(a, b GraphLargest) int { return cmp.Compare(b.Forward+b.Backward, a.Forward+a.Backward) })
	r.Largest = r.Largest[:min(largestShown, len(r.Largest))]
	r.Depth = depth(p)
	return r
}

// depth returns the number of operations on the longest path through a graph.
func depth(p *graph.Profile) (longest int) {
	into := make([][]int, len(p.Nodes))
	for _, e := range p.Edges {
		into[e[1]] = append(into[e[1]], e[0])
	}
	depths := make([]int, len(p.Nodes))
	for _, k := range graph.Order(len(p.Nodes), p.Edges) {
		for _, from := range into[k] {
			depths[k] = max(depths[k], depths[from])
		}
		depths[k]++
		longest = max(longest, depths[k])
	}
	return longest
}
