package operators

import (
	"strings"

	"graft/model/graph"
)

// graph lists the operators of a graph.
func (l *lister) graph() error {
	g := l.network.Graph.At(l.rows, nil)
	all, err := g.Sizes()
	if err != nil {
		return err
	}
	l.output = all.Of(g.Output)
	for k := range g.Nodes {
		if n := &g.Nodes[k]; !n.Sizes() {
			c := l.node(n, all)
			c.from, c.length = l.next+k, 1
			c.leads, c.still = leads(n, l.flows)
			if l.permutes(n) && l.path != Program && !strings.HasPrefix(c.Name, attending) {
				c.Name += ofPermuted
			}
			l.calls = append(l.calls, c)
		}
	}
	return nil
}

// ofPermuted ends the names of operators in graphs that read a tensor whose dimensions were permuted. They read memory
// in another order, or copy it first.
// Attention usually reads permuted tensors.
const (
	ofPermuted = " of a permuted tensor"
	attending  = "scaled_dot_product_attention"
)

// permutes reports whether a node reads a permuted tensor. It marks the results with permuted dimensions.
func (l *lister) permutes(n *graph.Node) (reads bool) {
	first, count := false, 0
	n.Reads(func(v any) {
		if of, is := v.(graph.Value); is {
			first, reads = first || count == 0 && l.permuted[of], reads || l.permuted[of]
			count++
		}
	})
	name, _, _ := strings.Cut(n.Operator, ".")
	permuted := first && keepsOrder[name]
	if name == "permute" || name == "transpose" || name == "t" {
		permuted = !reads // a second permutation usually restores the order
	}
	for _, v := range n.Results {
		l.permuted[v] = permuted
	}
	return reads
}

// keepsOrder are operators on single values. Their results have the order of their first operand in memory
// (TensorIterator, PyTorch documentation of memory formats).
var keepsOrder = func() map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(elementwise) {
		set[name] = true
	}
	return set
}()

// node returns the call of a node.
func (l *lister) node(n *graph.Node, all *graph.Sizes) Call {
	name, _, _ := strings.Cut(n.Operator, ".")
	if groups, _ := n.Arg("groups").(int64); groups > 1 {
		name += grouped
	}
	in, out := l.operands(n, all)
	c := Call{Name: name, Shapes: l.path.shapesText(in), Place: n.Module,
		Operations: float64(all.Operations(n)) * float64(max(l.rows, 1)), Bytes: width * (values(in) + values(out)),
		Optional: n.Views(), sizes: nodeSizes(name, in, out)}
	if scores := unfusedScores(n, all); scores > 0 {
		c.Name += unfused
		c.scores = width * scores * scorePasses
		if causal, _ := n.Arg("is_causal").(bool); causal || n.Arg("attn_mask") != nil {
			c.scores += width * scores * maskPasses
		}
		c.Bytes += c.scores
	}
	return c
}

// operands returns the shapes of what a node reads, without numbers, and of its results, until its next call.
func (l *lister) operands(n *graph.Node, all *graph.Sizes) (in, out [][]int) {
	l.shapes = l.shapes[:0]
	n.Reads(func(v any) {
		if s := all.Of(v); len(s) > 0 {
			l.shapes = append(l.shapes, s)
		}
	})
	read := len(l.shapes)
	for _, v := range n.Results {
		l.shapes = append(l.shapes, all.Of(v))
	}
	return l.shapes[:read], l.shapes[read:]
}

// leads reports whether a node has weights and reads only values without a gradient, and whether it has no gradient at
// all. It marks the node's results that have a gradient.
func leads(n *graph.Node, flows map[graph.Value]bool) (first, still bool) {
	weighted, after := false, false
	n.Reads(func(v any) {
		switch v := v.(type) {
		case graph.Value:
			after = after || flows[v]
		case graph.Weight:
			weighted = true
		}
	})
	if weighted || after {
		for _, v := range n.Results {
			flows[v] = true
		}
	}
	return weighted && !after, !weighted && !after
}

// unfused is the name of attention that PyTorch computes by separate operators.
const unfused = " unfused"

// Number of times that unfused attention reads or writes its scores: the first product writes them, the softmax reads
// and writes them, and the second product reads them. A mask is added to them.
const (
	scorePasses = 4
	maskPasses  = 2
)

// unfusedScores returns the number of scores of attention without a fused kernel, which requires queries and values of
// equal size (scaled_dot_product_attention, PyTorch documentation, 2.11). It is zero for other operators.
func unfusedScores(n *graph.Node, all *graph.Sizes) float64 {
	if n.Arg("query") == nil {
		return 0
	}
	q, k, v := all.Of(n.Arg("query")), all.Of(n.Arg("key")), all.Of(n.Arg("value"))
	if len(q) < 2 || len(k) < 2 || len(v) < 2 || q[len(q)-1] == v[len(v)-1] {
		return 0
	}
	return values([][]int{q}) / float64(max(1, q[len(q)-1])) * float64(k[len(k)-2])
}
