package rewrite

import (
	"fmt"
	"slices"

	"graft/model/graph"
	"graft/tracing/axes"
)

// opposite makes the inputs of a branch's last layer pairs of copies that cancel: an axis that the layer sums over,
// such as hidden units or heads, contains each place of the donor's first half twice, once added and once subtracted. A
// layer without such an axis becomes zero.
func (d *deepening) opposite(writer string) error {
	n, at := d.summing(writer)
	switch {
	case n == nil:
		return fmt.Errorf(
			"a branch ends in the tensor %s, which belongs to no linear layer or convolution, so its units "+
				"cannot be paired; use form = \"residual\"", writer)
	case at < 0: // a bias
		d.ends[writer] = Move{Values: "zeros"}
		return nil
	}
	axis := d.paired(d.Tensors[writer][at])
	if axis == nil {
		d.ends[writer] = Move{Values: "zeros"}
		return nil
	}
	if name := d.dropped(axis); name != "" {
		return fmt.Errorf("%s may drop only one unit of a pair in %s, so the outputs of the pair would not cancel; "+
			"use form = \"residual\"", name, writer)
	}
	w := newWidening(d.Axes, axis, axis.Size)
	for k := range axis.Size {
		w.from, w.share = append(w.from, k/2), append(w.share, float64(1-k%2*2))
	}
	if axis.Size%2 == 1 {
		w.share[axis.Size-1] = 0
	}
	w.each(func(t graph.Tensor, dim int, change Dim, share []float64) {
		m := d.ends[t.Name]
		if t.Name == writer && dim == at {
			change.Share = share
		}
		m.Dims = append(m.Dims, change)
		d.ends[t.Name] = m
	})
	return nil
}

// summing is the linear layer or convolution with a tensor, and the dimension that it sums over: -1 for its bias.
func (d *deepening) summing(tensor string) (*graph.Node, int) {
	for _, k := range d.b.Nodes {
		n := &d.Graph.Nodes[k]
		switch {
		case op(n) != "linear" && op(n) != "conv1d" && op(n) != "conv2d":
		case n.Arg("weight") == any(graph.Weight(tensor)):
			return n, 1
		case n.Arg("bias") == any(graph.Weight(tensor)):
			return n, -1
		}
	}
	return nil, 0
}

// paired is the first axis of a dimension whose copies are whole units of the block alone, preferably one with an even
// size: the last of an odd number has no partner and becomes zero.
func (d *deepening) paired(t *axes.Term) *axes.Term {
	t = t.Find()
	if t.Kind != axes.Product {
		if t.Size > 1 && d.repeatable(t) {
			return t
		}
		return nil
	}
	var found *axes.Term
	for _, p := range t.Parts {
		axis := d.paired(p)
		if axis != nil && (found == nil || found.Size%2 == 1 && axis.Size%2 == 0) {
			found = axis
		}
	}
	return found
}

// repeatable reports whether copies may widen an axis that belongs only to the block.
func (d *deepening) repeatable(t *axes.Term) bool {
	w := newWidening(d.Axes, t, 2*t.Size)
	if t.Kind != axes.Axis || w.possible() != nil || w.scores || w.normed() {
		return false
	}
	own := true
	w.each(func(tensor graph.Tensor, _ int, _ Dim, _ []float64) { own = own && inside(tensor.Name, d.b.Path) })
	return own
}

// dropped returns the name of an operator of the block that drops units of an axis, or weights of its heads.
func (d *deepening) dropped(axis *axes.Term) string {
	for _, k := range d.b.Nodes {
		n := &d.Graph.Nodes[k]
		p, _ := n.Arg("dropout_p").(float64)
		drops := slices.Contains([]string{"dropout", "feature_dropout", "native_dropout"}, op(n)) || p > 0
		if drops && slices.ContainsFunc(d.Values[n.Results[0]], func(t *axes.Term) bool { return t.Has(axis) }) {
			return n.Operator
		}
	}
	return ""
}
