package pt2

import (
	"strconv"
	"strings"

	"graft/model/graph"
)

// returns are the shapes of a node's results as stated in the archive; nil if they are not numbers or multiples of the
// input's sizes, or a result has a type that graft lacks.
func (b *builder) returns(n *node) (all [][]graph.Extent) {
	for _, name := range resultNames(n) {
		m := b.program.GraphModule.Graph.TensorValues[name]
		if m == nil {
			return nil
		}
		if _, known := dtypes[m.DType]; !known {
			return nil
		}
		shape := []graph.Extent{}
		for _, size := range m.Sizes {
			e, ok := b.extent(size)
			if !ok {
				return nil
			}
			shape = append(shape, e)
		}
		all = append(all, shape)
	}
	return all
}

// extent returns a size as a multiple of one of the input's sizes.
func (b *builder) extent(size integer) (graph.Extent, bool) {
	if size.expression == "" {
		return graph.Extent{N: int(size.number)}, size.name == ""
	}
	times, symbol := 1, size.expression
	// a SymPy expression such as Mul(Integer(4), Symbol('s77'))
	if product, found := strings.CutPrefix(symbol, "Mul(Integer("); found {
		number, rest, _ := strings.Cut(product, "), ")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return graph.Extent{}, false
		}
		times, symbol = n, strings.TrimSuffix(rest, ")")
	}
	name, known := b.symbols[symbol]
	return graph.Extent{N: times, Of: name}, known
}

// pass records an operator that graft does not support itself and passes on to LibTorch.
func (b *builder) pass(n *graph.Node) {
	if !b.passed[n.Operator] {
		b.passed[n.Operator] = true
		b.note("graft passes the unknown operator %s on to LibTorch; surgery does not change layers next to it",
			n.Operator)
	}
}
