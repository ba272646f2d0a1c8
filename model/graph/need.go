package graph

import (
	"fmt"
	"math"
	"slices"

	"graft/torch/weights"
)

// Need holds lower bounds on the resources for a forward pass, computed from the shapes of its values.
type Need struct {
	Weights    float64 // bytes of the weights
	Values     float64 // total bytes of all values
	Peak       float64 // maximum over time of the bytes of the weights and of the values in use
	Output     float64 // bytes of the output
	Operations float64 // number of floating-point operations
}

// Training returns a lower bound on the memory for a training step, in bytes. It counts the tensors that exist when the
// loss is computed: the outputs, their softmax and its gradient, and the gradients of the weights.
func (n Need) Training() float64 { return max(n.Peak, 2*n.Weights+3*n.Output) }

// Needs computes lower bounds on the resources for a forward pass on inputs of the given shape. A nil shape means the
// shape of the graph's example input. If graft cannot infer a shape, Needs returns an error.
func (g *Graph) Needs(shape []int) (Need, error) {
	part := g
	if shape != nil {
		if len(shape) != len(g.Input.Shape) {
			return Need{}, fmt.Errorf("the input must have %d dimensions, got a shape with %d", len(g.Input.Shape),
				len(shape))
		}
		other := *g
		other.Input.Shape = slices.Clone(g.Input.Shape)
		for k := range shape {
			other.Input.Shape[k].N = shape[k]
		}
		part = &other
	}
	sizes, err := part.Sizes()
	if err != nil {
		return Need{}, err
	}
	return part.needs(sizes), nil
}

func (g *Graph) needs(sizes *Sizes) (need Need) {
	each, shapes := g.smallest(), sizes.shapes
	for _, t := range g.Tensors {
		if t.Tied == "" {
			need.Weights += float64(t.Count()) * float64(t.DType.Size())
		}
	}
	last := g.lastReads()
	held := 0.0
	for _, in := range g.Inputs() {
		held += each * values(shapes[in.Value])
	}
	need.Values, need.Peak = held, held
	for k := range g.Nodes {
		n := &g.Nodes[k]
		size := 0.0
		for _, v := range n.Results {
			if !n.Views() {
				size += each * values(shapes[v])
			}
		}
		held += size
		need.Values += size
		need.Peak = max(need.Peak, held)
		for _, v := range last[k] {
			if from := v.node; from < 0 || !g.Nodes[from].Views() {
				held -= each * values(shapes[v.value])
			}
		}
		if count := sizes.operations(n); count >= 0 {
			need.Operations += float64(count)
		} else {
			need.Operations = math.Inf(1) // beyond 64 bits
		}
	}
	need.Peak += need.Weights
	for _, v := range g.Outputs() {
		need.Output += each * values(shapes[v])
	}
	return need
}

// made is a value and the index of the node that computes it; -1 means the input.
type made struct {
	value Value
	node  int
}

// lastReads lists, for each node, the values that no later node reads. A view may be read later; its memory is then
// counted too low.
func (g *Graph) lastReads() [][]made {
	from, last := map[Value]int{}, map[Value]int{}
	for _, in := range g.Inputs() {
		from[in.Value], last[in.Value] = -1, -1
	}
	for k := range g.Nodes {
		g.Nodes[k].Reads(func(arg any) {
			if v, ok := arg.(Value); ok {
				last[v] = k
			}
		})
		for _, v := range g.Nodes[k].Results {
			from[v], last[v] = k, k
		}
	}
	for _, v := range g.Outputs() {
		delete(last, v)
	}
	ends := make([][]made, len(g.Nodes))
	for v, k := range last {
		if k >= 0 {
			ends[k] = append(ends[k], made{v, from[v]})
		}
	}
	return ends
}

// values counts the values of a shape.
func values(shape []int) float64 {
	n := 1.0
	for _, size := range shape {
		n *= float64(size)
	}
	return n
}

// smallest is the size in bytes of a value of the graph: four, or two if the graph names a 16-bit type.
func (g *Graph) smallest() float64 {
	half := func(d weights.DType) bool { return d == weights.Float16 || d == weights.BFloat16 }
	if half(g.Input.DType) || slices.ContainsFunc(g.Tensors, func(t Tensor) bool { return half(t.DType) }) {
		return 2
	}
	for k := range g.Nodes {
		for _, a := range g.Nodes[k].Args {
			if d, ok := a.Value.(weights.DType); ok && half(d) {
				return 2
			}
		}
	}
	return 4
}
