package fabric

import (
	"cmp"
	"errors"
	"io"
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
	Model      string          `json:"model"`            // name of the network
	Operations int             `json:"operations"`       // forward operations; the backward pass has the same number
	Edges      int             `json:"edges"`            // forward edges
	Depth      int             `json:"depth"`            // operations on the longest forward path
	Forward    float64         `json:"forward_ms"`       // sum of the operations' times
	Backward   float64         `json:"backward_ms"`      // sum of the operations' times
	Activation float64         `json:"activation_bytes"` // sum over operations
	Parameters float64         `json:"parameter_bytes"`  // sum over operations
	Largest    []GraphLargest  `json:"largest"`          // slowest operations
	Kinds      []GraphKindPart `json:"kinds"`            // sums by kind, the slowest first
	File       string          `json:"file"`             // written file; empty for none
}

// GraphLargest is an operation.
type GraphLargest struct {
	ID         int     `json:"id"`               // number of the operation
	Kind       string  `json:"kind"`             // kind such as Conv2d
	Detail     string  `json:"detail"`           // arguments or the path of a layer
	Forward    float64 `json:"forward_ms"`       // time
	Backward   float64 `json:"backward_ms"`      // time
	Activation float64 `json:"activation_bytes"` // bytes of its output
	Parameters float64 `json:"parameter_bytes"`  // bytes of its parameters
}

// GraphKindPart sums the operations of a kind.
type GraphKindPart struct {
	Kind       string  `json:"kind"`            // kind such as Conv2d
	Operations int     `json:"operations"`      // number of operations
	Time       float64 `json:"time_ms"`         // forward and backward time
	Share      float64 `json:"share"`           // of the step's time
	Parameters float64 `json:"parameter_bytes"` // bytes of their parameters
}

// largestShown is the number of operations that a report lists.
const largestShown = 10

// Graph describes a graph, and writes it to a file if one is named: PipeDream's format for .txt, JSON for .json.
func Graph(env *app.Env, name string, o networks.ReadOptions, out string) (*GraphReport, error) {
	p, err := readGraph(env.Files, name, o)
	if err != nil {
		return nil, err
	}
	r := describe(p)
	if out == "" {
		return r, nil
	}
	write := map[string]func(io.Writer) error{".txt": p.WritePipeDream,
		".json": p.WriteJSON}[strings.ToLower(filepath.Ext(out))]
	if write == nil {
		return nil, failure.Usagef("option out: %q: expected a file that ends in .txt (PipeDream profile) "+
			"or .json (graph)", out)
	}
	r.File = out
	return r, files.WriteAtomic(env.Files, out, write)
}

// readGraph reads a graph; content faults have the code of a configuration.
func readGraph(fsys files.FS, name string, o networks.ReadOptions) (*graph.Profile, error) {
	p, err := networks.Reader{Network: config.ReadNetwork, Profile: config.FindProfile}.Read(fsys, name, o)
	var missing *fs.PathError
	if err != nil && !errors.As(err, &missing) {
		err = failure.With(failure.Configuration, err)
	}
	return p, err
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
