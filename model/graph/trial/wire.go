package trial

import (
	"encoding/gob"
	"fmt"
	"io"

	"graft/model/graph"
	"graft/torch/weights"
)

// request describes a trial to its process; the tensors follow one by one.
type request struct {
	Name      string
	Input     graph.Input
	Output    graph.Value
	Modules   []graph.Module
	Tensors   []graph.Tensor
	Nodes     []string // notations
	Shape     []int
	Values    []float64
	Gradients bool
	Limits    Limits
	Zeros     bool // no tensors follow
	Count     int  // number of tensors
}

// reply is the result of a trial.
type reply struct {
	Error  string
	Absent bool // LibTorch cannot be opened
	Output *graph.Output
}

func send(w io.Writer, g *graph.Graph, a graph.Attempt, l Limits) error {
	r := request{Name: g.Name, Input: g.Input, Output: g.Output, Modules: g.Modules, Tensors: g.Tensors, Shape: a.Shape,
		Values: a.Values, Gradients: a.Gradients, Limits: l, Zeros: a.Weights == nil}
	for _, n := range g.Nodes {
		r.Nodes = append(r.Nodes, n.String())
	}
	if a.Weights != nil {
		r.Count = len(a.Weights.Tensors)
	}
	e := gob.NewEncoder(w)
	if err := e.Encode(r); err != nil {
		return err
	}
	for k := range r.Count {
		if err := e.Encode(a.Weights.Tensors[k]); err != nil {
			return err
		}
	}
	return nil
}

// received reads a request written by send.
func received(d *gob.Decoder, r *request) (*graph.Graph, graph.Attempt, error) {
	g := &graph.Graph{Name: r.Name, Input: r.Input, Output: r.Output, Modules: r.Modules, Tensors: r.Tensors}
	a := graph.Attempt{Shape: r.Shape, Values: r.Values, Gradients: r.Gradients}
	for _, text := range r.Nodes {
		n, err := graph.ParseNode(text)
		if err != nil {
			return nil, a, fmt.Errorf("read the operator %.200s: %w", text, err)
		}
		g.Nodes = append(g.Nodes, n)
	}
	if !r.Zeros {
		a.Weights = &weights.Set{}
	}
	for range r.Count {
		var t weights.Tensor
		if err := d.Decode(&t); err != nil {
			return nil, a, err
		}
		a.Weights.Tensors = append(a.Weights.Tensors, t)
	}
	return g, a, g.Check()
}
