package graph

import (
	"fmt"
	"slices"

	"graft/torch"
	"graft/torch/weights"
)

// Attempt describes a trial pass over a graph that was read from a file. The pass reveals errors in the graph before
// the graph is used.
type Attempt struct {
	Weights *weights.Set // weights of the graph; nil means zeros
	Shape   []int        // shape of the input; nil means the example's shape
	Values  []float64    // values of the input; nil means zeros
	// whether to also run a pass in train mode with gradients; errors in this pass are ignored
	Gradients bool
}

// Output holds the result of a graph.
type Output struct {
	Shape  []int
	Values []float32
}

// Try runs the graph in this process and returns its output in evaluation mode. If no input values are given, Try first
// runs the operators that graft passes on to LibTorch, once for each of two input sizes. Try returns an error if the
// shape of a result differs from its stated shape. An operator may crash the process, so package trial runs Try in a
// separate process.
func (g *Graph) Try(a Attempt) (*Output, error) {
	if a.Weights == nil {
		a.Weights = g.zeros()
	}
	if a.Values == nil {
		if err := g.tryPassed(a.Weights); err != nil {
			return nil, err
		}
	}
	if a.Shape == nil {
		a.Shape = g.Input.Dims()
	}
	out := &Output{}
	return out, torch.With(func(s *torch.Scope) error {
		dtype, ok := torch.TypeOf(g.Input.DType)
		if !ok {
			return fmt.Errorf("LibTorch has no type %v", g.Input.DType)
		}
		x := s.Zeros(dtype, torch.CPU, a.Shape...)
		if a.Values != nil {
			x = s.To(torch.From(s, a.Values, a.Shape...), dtype, torch.CPU)
		}
		program, err := g.compile(s, a.Weights)
		if err != nil {
			return err
		}
		s.NoGrad(func() {
			y := s.To(program.Forward(s, x, false, nil), torch.Float32, torch.CPU)
			if err = s.Err(); err != nil {
				return
			}
			out.Shape = y.Shape()
			out.Values, err = torch.Values[float32](y)
		})
		if err == nil && a.Gradients {
			g.tryGradients(a.Weights, x)
		}
		return err
	})
}

// tryGradients runs a pass in train mode, with its gradients.
func (g *Graph) tryGradients(set *weights.Set, x *torch.Tensor) {
	_ = torch.With(func(s *torch.Scope) error {
		program, err := g.compile(s, set)
		if err != nil {
			return err
		}
		s.Backward(s.Sum(program.Forward(s, x, true, s.NewGenerator(torch.CPU, 1))))
		return s.Err()
	})
}

func (g *Graph) compile(s *torch.Scope, set *weights.Set) (*torch.Program, error) {
	n, err := g.Bind(s, torch.CPU, set)
	if err != nil {
		return nil, err
	}
	return n.Program(s, torch.ProgramOptions{})
}

// tryPassed compares the shapes of results of operators that are passed on with the stated ones.
func (g *Graph) tryPassed(set *weights.Set) error {
	for k := range g.Nodes {
		for at := range g.Nodes[k].Returns {
			for more := range 2 {
				if err := g.until(k, at, more).tryShape(set); err != nil {
					return fmt.Errorf("run operator %s in LibTorch and compare the shapes of its results: %w",
						g.Nodes[k].Operator, err)
				}
			}
		}
	}
	return nil
}

// until is the graph up to a result of a node, for inputs that are larger by more in all variable sizes.
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

// zeros returns zero weights for the graph.
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

// tryShape runs the graph on zeros and compares the output's shape.
func (g *Graph) tryShape(set *weights.Set) error {
	shapes, err := g.Shapes()
	if err != nil {
		return err
	}
	return torch.With(func(s *torch.Scope) error {
		program, err := g.compile(s, set)
		if err != nil {
			return err
		}
		dtype, ok := torch.TypeOf(g.Input.DType)
		if !ok {
			return fmt.Errorf("LibTorch has no type %v", g.Input.DType)
		}
		var shape []int
		s.NoGrad(func() {
			shape = program.Forward(s, s.Zeros(dtype, torch.CPU, g.Input.Dims()...), false, nil).Shape()
		})
		if want := shapes[g.Output]; s.Err() == nil && !slices.Equal(shape, want) {
			return fmt.Errorf("the result %s has shape %s, but the network declares %s", g.Output, listText(shape),
				listText(want))
		}
		return s.Err()
	})
}
