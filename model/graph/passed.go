package graph

import (
	"fmt"
	"math"
	"slices"

	"graft/torch"
	"graft/torch/weights"
)

// TryPassed runs each operator that is passed on to LibTorch, with what comes before it, on an input of zeros of two sizes, and
// returns an error where its results do not have the shapes that the graph states. Where that may take much memory it is not tried.
// Weights are zeros too. Graphs without such operators need no LibTorch.
func (g *Graph) TryPassed() error {
	for k := range g.Nodes {
		for at := range g.Nodes[k].Returns {
			for more := range 2 {
				if err := g.until(k, at, more).try(); err != nil {
					return fmt.Errorf("operator %s, which graft passes on to LibTorch: %w", g.Nodes[k].Operator, err)
				}
			}
		}
	}
	return nil
}

// until is the graph up to a result of a node, for inputs that are larger by some in all sizes that may change.
func (g *Graph) until(node, result, more int) *Graph {
	part := *g
	part.Nodes = g.Nodes[:node+1]
	part.Output = g.Nodes[node].Results[result]
	read := map[string]bool{}
	for k := range part.Nodes {
		part.Nodes[k].Reads(func(arg any) {
			if w, ok := arg.(Weight); ok {
				read[string(w)] = true
				if t := g.Tensor(string(w)); t != nil {
					read[t.Tied] = true
				}
			}
		})
	}
	part.Tensors = slices.DeleteFunc(slices.Clone(g.Tensors), func(t Tensor) bool { return !read[t.Name] })
	part.Input.Shape = slices.Clone(g.Input.Shape)
	for k := range part.Input.Shape {
		if size := &part.Input.Shape[k]; size.Name != "" {
			size.N += more
		}
	}
	return &part
}

// mostTried bounds the values that a trial computes: 64 million, of 256 MB in float32.
const mostTried = 1 << 26

// small reports whether the values of a graph, and what the last node may make of them by the numbers in its arguments, are few.
func (g *Graph) small(shapes map[Value][]int) bool {
	values, times := 0.0, 1.0
	for _, t := range g.Tensors {
		values += float64(t.Count())
	}
	for _, shape := range shapes {
		one := 1.0
		for _, size := range shape {
			one *= float64(size)
		}
		values += one
	}
	count := func(v any) {
		if n, ok := v.(int64); ok {
			times *= max(1, math.Abs(float64(n)))
		}
	}
	for _, a := range g.Nodes[len(g.Nodes)-1].Args {
		list, ok := a.Value.([]any)
		if !ok {
			list = []any{a.Value}
		}
		for _, item := range list {
			count(item)
		}
	}
	return values*times <= mostTried
}

// zeros are weights of the graph.
func (g *Graph) zeros() *weights.Set {
	set := &weights.Set{}
	for _, t := range g.Tensors {
		w := weights.Tensor{Name: t.Name, DType: t.DType, Data: make([]byte, int64(t.Count())*t.DType.Size())}
		for _, size := range t.Shape {
			w.Shape = append(w.Shape, int64(size))
		}
		set.Tensors = append(set.Tensors, w)
	}
	return set
}

// try runs the graph on zeros and compares the output's shape.
func (g *Graph) try() error {
	shapes, err := g.Shapes()
	if err != nil {
		return err
	}
	if !g.small(shapes) {
		return nil
	}
	return torch.With(func(s *torch.Scope) error {
		n, err := g.Bind(s, torch.CPU, g.zeros())
		if err != nil {
			return err
		}
		program, err := n.Program(s, torch.ProgramOptions{})
		if err != nil {
			return err
		}
		dtype, ok := torch.TypeOf(g.Input.DType)
		if !ok {
			return fmt.Errorf("LibTorch has no type %v", g.Input.DType)
		}
		var shape []int
		s.NoGrad(func() { shape = program.Forward(s, s.Zeros(dtype, torch.CPU, g.Input.Dims()...), false, nil).Shape() })
		if want := shapes[g.Output]; s.Err() == nil && !slices.Equal(shape, want) {
			return fmt.Errorf("its result %s has the shape %v, and the network states %v", g.Output, shape, want)
		}
		return s.Err()
	})
}
