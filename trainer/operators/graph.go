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
	clear(l.values)
	l.values[g.Input.Value] = graphValue{shape: all.Of(g.Input.Value)}
	for k := range g.Nodes {
		if n := &g.Nodes[k]; !n.Sizes() {
			c := l.node(n, all, all.Results(k))
			c.from, c.length = l.next+k, 1
			l.calls = append(l.calls, c)
		}
	}
	return nil
}

// graphValue is a result of a node, or the input.
type graphValue struct {
	shape    []int
	flows    bool // whether it has a gradient
	permuted bool // whether its dimensions are permuted in memory
}

// nodeReads describes what a node reads.
type nodeReads struct {
	shapes   [][]int // of tensors, without numbers; valid until the next node
	weighted bool    // whether the node reads weights
	flows    bool    // whether a value has a gradient
	permuted bool    // whether a value is permuted
	first    bool    // whether the first value is permuted
}

// reads returns what a node reads.
func (l *lister) reads(n *graph.Node, all *graph.Sizes) (r nodeReads) {
	l.shapes = l.shapes[:0]
	count := 0
	n.Reads(func(v any) {
		var of graphValue
		switch v := v.(type) {
		case graph.Value:
			of = l.values[v]
			r.flows, r.permuted = r.flows || of.flows, r.permuted || of.permuted
			r.first = r.first || count == 0 && of.permuted
			count++
		case graph.Weight:
			r.weighted = true
			of.shape = all.Of(v)
		}
		if len(of.shape) > 0 {
			l.shapes = append(l.shapes, of.shape)
		}
	})
	r.shapes = l.shapes
	return r
}

// makes notes the results of a node, which have the given shapes.
func (l *lister) makes(n *graph.Node, shapes [][]int, r *nodeReads) {
	made := graphValue{flows: r.weighted || r.flows, permuted: r.permutes(n.Name())}
	for k, v := range n.Results {
		made.shape = shapes[k]
		l.values[v] = made
	}
}

// ofPermuted ends the names of operators in graphs that read a tensor whose dimensions were permuted. They read memory
// in another order, or copy it first.
// Attention usually reads permuted tensors.
const (
	ofPermuted = " of a permuted tensor"
	attending  = "scaled_dot_product_attention"
)

// permutes reports whether the results of an operator have permuted dimensions.
func (r *nodeReads) permutes(name string) bool {
	if name == "permute" || name == "transpose" || name == "t" {
		return !r.permuted // a second permutation usually restores the order
	}
	return r.first && keepsOrder[name]
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

// node returns the call of a node whose results have the shapes out.
func (l *lister) node(n *graph.Node, all *graph.Sizes, out [][]int) Call {
	name := n.Name()
	if groups, _ := n.Arg("groups").(int64); groups > 1 {
		name = l.join(name, grouped)
	}
	r := l.reads(n, all)
	l.makes(n, out, &r)
	in := r.shapes
	c := Call{Name: name, Shapes: l.path.shapesText(in), Place: n.Module,
		Operations: float64(all.Operations(n)) * float64(max(l.rows, 1)), Bytes: width * (values(in) + values(out)),
		Optional: n.Views(), sizes: nodeSizes(name, in, out),
		leads: r.weighted && !r.flows, still: !r.weighted && !r.flows}
	if scores := unfusedScores(n, all); scores > 0 {
		c.Name += unfused
		c.scores = width * scores * scorePasses
		if causal, _ := n.Arg("is_causal").(bool); causal || n.Arg("attn_mask") != nil {
			c.scores += width * scores * maskPasses
		}
		c.Bytes += c.scores
	}
	if r.permuted && l.path != Program && !strings.HasPrefix(c.Name, attending) {
		c.Name = l.join(c.Name, ofPermuted)
	}
	return c
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
