package axes

import (
	"strings"

	"graft/model/graph"
	"graft/torch/weights"
)

// Norm is a normalisation over the last dimension: a single operator, or separate operators that divide by the root
// mean square.
type Norm struct {
	Term          *Term
	Centre        bool // the normalisation subtracts the mean
	Input, Output graph.Value
	Weight, Bias  string // names of the weight and the bias; empty if there are none
	Node          int    // index of the node with the epsilon, which is the argument Eps
	Eps           string
	Epsilon       float64
}

// readersOf lists the nodes that read a value.
func readersOf(g *graph.Graph) map[graph.Value][]int {
	all := map[graph.Value][]int{}
	for k := range g.Nodes {
		g.Nodes[k].Reads(func(v any) {
			if value, ok := v.(graph.Value); ok {
				all[value] = append(all[value], k)
			}
		})
	}
	return all
}

// Readers returns the nodes that read a value, in execution order.
func (a *Axes) Readers(v graph.Value) []int { return a.readers[v] }

func fixAllOf(terms []*Term, reason string) {
	for _, t := range terms {
		t.Fix(reason)
	}
}

// builtNorm records layer_norm and rms_norm.
func (r *reader) builtNorm() {
	input, ok := r.n.Arg("input").(graph.Value)
	if !ok {
		return
	}
	x := r.Values[input]
	n := Norm{Term: x[len(x)-1], Centre: strings.HasPrefix(r.n.Operator, "layer_norm"), Input: input,
		Output: r.n.Results[0], Node: r.at, Eps: "eps", Epsilon: 1e-5}
	weight, _ := r.n.Arg("weight").(graph.Weight)
	bias, _ := r.n.Arg("bias").(graph.Weight)
	n.Weight, n.Bias = string(weight), string(bias)
	if eps, given := r.n.Arg("eps").(float64); given {
		n.Epsilon = eps
	} else if !n.Centre { // the default of rms_norm depends on the type
		n.Epsilon = 0x1p-23
		if t := r.Graph.Tensor(n.Weight); t != nil && t.DType == weights.Float64 {
			n.Epsilon = 0x1p-52
		}
	}
	r.Norms = append(r.Norms, n)
}

// handNorm recognises x * rsqrt(mean(x * x) + epsilon), with an optional weight, at the mean.
func (r *reader) handNorm() bool {
	square, _ := r.n.Args[0].Value.(graph.Value)
	x, ok := r.squareOf(square)
	if !ok || len(r.readers[square]) != 1 {
		return false
	}
	sum, at := r.only(r.n.Results[0], "add")
	if sum == nil {
		return false
	}
	eps, ok := sum.Arg("other").(float64)
	if !ok || sum.Arg("alpha") != nil {
		return false
	}
	root, _ := r.only(sum.Results[0], "rsqrt")
	if root == nil {
		return false
	}
	product, _ := r.only(root.Results[0], "mul")
	if product == nil || !r.reads(product, x) {
		return false
	}
	n := Norm{Term: r.Values[x][len(r.Values[x])-1], Input: x, Output: product.Results[0], Node: at, Eps: "other",
		Epsilon: eps}
	r.scaled(&n)
	r.Norms = append(r.Norms, n)
	return true
}

// scaled adds the weight that the output is multiplied by.
func (r *reader) scaled(n *Norm) {
	next, _ := r.only(n.Output, "mul")
	if next == nil {
		return
	}
	for _, a := range next.Args {
		if w, ok := a.Value.(graph.Weight); ok && len(r.Tensors[string(w)]) == 1 {
			n.Weight, n.Output = string(w), next.Results[0]
		}
	}
}

// squareOf returns the value that a node squares. It skips casts in between.
func (r *reader) squareOf(v graph.Value) (graph.Value, bool) {
	for k := range r.at {
		n := &r.Graph.Nodes[k]
		if len(n.Results) != 1 || n.Results[0] != v {
			continue
		}
		x, ok := n.Args[0].Value.(graph.Value)
		switch n.Operator {
		case "pow.Tensor_Scalar":
			by := n.Arg("exponent")
			return x, ok && (by == int64(2) || by == 2.0)
		case "square.default":
			return x, ok
		case "mul.Tensor":
			return x, ok && n.Arg("other") == any(x)
		}
	}
	return "", false
}

// only returns the single node that reads a value, ignoring casts, if it has the given operator.
func (r *reader) only(v graph.Value, op string) (*graph.Node, int) {
	for len(r.readers[v]) == 1 {
		k := r.readers[v][0]
		n := &r.Graph.Nodes[k]
		name := n.Name()
		switch name {
		case op:
			return n, k
		case "to", "_to_copy", "type_as":
			v = n.Results[0]
		default:
			return nil, 0
		}
	}
	return nil, 0
}

// reads reports whether a node reads a value, or a cast of it.
func (r *reader) reads(n *graph.Node, x graph.Value) bool {
	found := false
	n.Reads(func(v any) { found = found || v == any(x) })
	return found
}
