package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"graft/model/graph"
	"graft/tracing/axes"
)

// degrees follows shares through the network. The degree of a tensor or of a value is the power of the share's root
// that its copies are multiplied by: 0 for plain copies, 1 for the factors of scores, 2 for divided weights. A product
// that sums over the axis keeps its value if the degrees of its factors add up to 2.
type degrees struct {
	*widening
	values map[graph.Value]int  // degrees of values with the axis
	sums   map[int]bool         // nodes that sum over the axis
	seen   map[graph.Value]bool // values that sources has visited
	given  map[graph.Value]bool // whether a value depends only on tensors of the network
}

// divide chooses the tensors that take the shares of sums over computed values, and checks that the function stays.
func (w *widening) divide(uses []axes.Use) error {
	d := &degrees{widening: w, values: map[graph.Value]int{}, sums: map[int]bool{}, given: map[graph.Value]bool{}}
	for _, u := range w.Uses {
		if u.Kind == axes.Contracts && u.Term.Has(w.axis) {
			d.sums[u.Node] = true
		}
	}
	layers := len(w.splits) > 0
	for _, u := range uses {
		fixed := d.fixed(u.Left) || d.fixed(u.Right)
		layers, w.scores = layers || fixed, w.scores || !fixed
	}
	if w.scores && layers {
		return fmt.Errorf("widen: attention scores and a layer both sum over the axis; only one of them may do so")
	}
	for _, u := range uses {
		if err := d.choose(u); err != nil {
			return fmt.Errorf("widen: %s in %q sums products of two computed values over the axis, and shares of "+
				"copies need tensors before it that it depends on linearly, but %w; choose another axis",
				w.Graph.Nodes[u.Node].Operator, w.Graph.Nodes[u.Node].Module, err)
		}
	}
	w.Partition = false
	return d.check()
}

// choose finds the tensors of a sum: the ones behind a weight that is computed, such as a weight times a mask, get the
// shares; the ones behind two activations, such as queries and keys, get their roots.
func (d *degrees) choose(u axes.Use) error {
	for _, operand := range []any{u.Right, u.Left} {
		if !d.fixed(operand) {
			continue
		}
		names, err := d.sources(operand)
		for _, name := range names {
			dim, err := d.summed(name, u)
			if err != nil {
				return err
			}
			d.splits[place{name, dim}] = true
		}
		return err
	}
	for _, operand := range []any{u.Left, u.Right} {
		names, err := d.sources(operand)
		if err != nil {
			return err
		}
		for _, name := range names {
			d.degree[name] = 1
		}
	}
	return nil
}

// fixed reports whether an operand depends only on tensors of the network, not on its inputs.
func (d *degrees) fixed(operand any) bool {
	v, isValue := operand.(graph.Value)
	if !isValue {
		return operand != nil
	}
	known, seen := d.given[v]
	n := d.maker(v)
	if seen || n == nil {
		return known
	}
	all := true
	n.Reads(func(read any) { all = all && d.fixed(read) })
	d.given[v] = all
	return all
}

// carries reports whether an operand has the axis.
func (w *widening) carries(operand any) bool { return w.times(operand) > 0 }

// times is the number of dimensions of an operand that have the axis, where a product with the axis twice counts twice.
func (w *widening) times(operand any) (count int) {
	var terms []*axes.Term
	switch v := operand.(type) {
	case graph.Value:
		terms = w.Values[v]
	case graph.Weight:
		terms = w.Tensors[string(v)]
	}
	for _, t := range terms {
		count += occurrences(t, w.axis)
	}
	return count
}

// occurrences is the largest number of factors of a term that are the axis.
func occurrences(t, axis *axes.Term) (count int) {
	t = t.Find()
	if t == axis {
		return 1
	}
	for _, p := range t.Parts {
		if n := occurrences(p, axis); t.Kind == axes.Sum {
			count = max(count, n)
		} else {
			count += n
		}
	}
	return count
}

// Operators by the effect of a positive factor on their operands.
var (
	// the result has the factor of the first operand
	homogeneous = append(slices.Clone(views), strings.Fields(`expand expand_as view_as reshape_as type_as _to_copy
		repeat repeat_interleave narrow index_select cat stack dropout feature_dropout neg relu leaky_relu abs tril
		triu sum mean amax amin cumsum pad constant_pad_nd max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d
		avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d upsample_nearest1d upsample_linear1d
		upsample_nearest2d upsample_bilinear2d upsample_bicubic2d _upsample_nearest_exact1d
		_upsample_nearest_exact2d`)...)
	// the operands must have the same factor, and the result has it
	additive = strings.Fields("add sub maximum minimum")
	// the result has the product of the factors
	bilinear = map[string][2]string{"linear": {"input", "weight"}, "conv1d": {"input", "weight"},
		"conv2d": {"input", "weight"}, "conv3d": {"input", "weight"}, "matmul": {"self", "other"},
		"mm": {"self", "mat2"}, "bmm": {"self", "mat2"}, "addmm": {"mat1", "mat2"}, "outer": {"self", "vec2"}}
	// weight and bias apply to each place of the axis on its own
	affine = strings.Fields("batch_norm instance_norm group_norm")
)

// bias is the argument that a product adds.
func bias(n *graph.Node) any {
	if op(n) == "addmm" {
		return n.Arg("self")
	}
	return n.Arg("bias")
}

// operands returns the first argument of a node, or its entries.
func operands(n *graph.Node) []any {
	if list, ok := n.Args[0].Value.([]any); ok {
		return slices.Clone(list)
	}
	return []any{n.Args[0].Value}
}

// sources returns the tensors whose scaling scales the copies of an operand.
func (d *degrees) sources(operand any) ([]string, error) {
	d.seen = map[graph.Value]bool{}
	return d.behind(operand)
}

func (d *degrees) behind(operand any) ([]string, error) {
	if w, ok := operand.(graph.Weight); ok {
		return d.scalable(w)
	}
	v, _ := operand.(graph.Value)
	n := d.maker(v)
	switch {
	case n == nil:
		return nil, fmt.Errorf("no operator computes %v", operand)
	case d.seen[v]:
		return nil, nil
	}
	d.seen[v] = true
	factors, product := bilinear[op(n)]
	switch name := op(n); {
	case slices.Contains(homogeneous, name):
		return d.all(operands(n)...)
	case slices.Contains(additive, name):
		return d.all(n.Arg("self"), n.Arg("other"))
	case name == "mul":
		return d.any(n.Arg("self"), n.Arg("other"))
	case name == "div":
		return d.behind(n.Arg("self"))
	case product && d.carries(n.Arg(factors[1])) && !d.sums[d.makers[v]]:
		return d.all(n.Arg(factors[1]), bias(n))
	case product:
		return d.all(n.Arg(factors[0]), bias(n))
	case slices.Contains(affine, name) && n.Arg("weight") != nil, name == "embedding":
		return d.all(n.Arg("weight"), n.Arg("bias"))
	case name == "scaled_dot_product_attention":
		return d.behind(n.Arg("value"))
	}
	return nil, fmt.Errorf("%s is not linear", n.Operator)
}

// scalable returns the name of a tensor, if its values may change.
func (d *degrees) scalable(w graph.Weight) ([]string, error) {
	t := d.tensor(w)
	switch {
	case t.Role == graph.Constant:
		return nil, fmt.Errorf("%s is a constant", t.Name)
	case !slices.Contains(floats, t.DType):
		return nil, fmt.Errorf("%s has the type %s", t.Name, t.DType)
	case d.times(w) != 1:
		return nil, fmt.Errorf("%s has the axis in several dimensions", t.Name)
	}
	return []string{t.Name}, nil
}

// all returns the sources of all operands with the axis.
func (d *degrees) all(operands ...any) (names []string, err error) {
	for _, operand := range operands {
		if !d.carries(operand) {
			continue
		}
		more, err := d.behind(operand)
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	return names, nil
}

// any returns the sources of one factor, preferably parameters: a mask or a table of positions stays as it is.
func (d *degrees) any(operands ...any) (found []string, err error) {
	ok := false
	for _, operand := range operands {
		if !d.carries(operand) {
			continue
		}
		names, failed := d.behind(operand)
		untrained := slices.ContainsFunc(names,
			func(name string) bool { return d.Graph.Tensor(name).Role != graph.Parameter })
		switch {
		case failed != nil:
			err = failed
		case !untrained:
			return names, nil
		case !ok:
			found, ok = names, true
		}
	}
	if ok {
		return found, nil
	}
	return nil, err
}

// check computes the degrees of all values, and returns an error if a result of the network depends on shares.
func (d *degrees) check() error {
	for p := range d.splits {
		if d.times(graph.Weight(p.tensor)) != 1 {
			return fmt.Errorf("widen: %s has the axis in several dimensions, and computed values sum over it",
				p.tensor)
		}
		d.degree[p.tensor] = 2
	}
	for k := range d.Graph.Nodes {
		n := &d.Graph.Nodes[k]
		if n.Sizes() {
			continue
		}
		degree, ok := d.after(n, d.sums[k])
		for _, v := range n.Results {
			count := d.times(v)
			if !ok || degree != 0 && count > 1 {
				return fmt.Errorf("widen: %s in %q would see the shares of copies, so the network's function would "+
					"change; choose another axis", n.Operator, n.Module)
			}
			if count > 0 {
				d.values[v] = degree
			}
		}
	}
	return nil
}

// of is the degree of an operand. A number or an operand without the axis has degree 0.
func (d *degrees) of(operand any) int {
	switch v := operand.(type) {
	case graph.Value:
		return d.values[v]
	case graph.Weight:
		if d.carries(v) {
			return d.degree[d.tensor(v).Name]
		}
	}
	return 0
}

// equal returns the degree that all operands have. Zero and missing operands have any degree.
func (d *degrees) equal(operands ...any) (degree int, ok bool) {
	first := true
	for _, operand := range operands {
		if operand == nil || operand == any(int64(0)) || operand == any(0.0) {
			continue
		}
		if !first && d.of(operand) != degree {
			return 0, false
		}
		degree, first = d.of(operand), false
	}
	return degree, true
}

// after is the degree of the results of a node. It is not ok if the node mixes degrees.
func (d *degrees) after(n *graph.Node, sums bool) (degree int, ok bool) {
	factors, product := bilinear[op(n)]
	summed := 0
	if sums {
		summed = 2
	}
	switch name := op(n); {
	case product:
		degree = d.of(n.Arg(factors[0])) + d.of(n.Arg(factors[1])) - summed
		return degree, (!sums || degree == 0) && (bias(n) == nil || d.of(bias(n)) == degree)
	case name == "scaled_dot_product_attention":
		scores := d.of(n.Arg("query")) + d.of(n.Arg("key")) - summed
		return d.of(n.Arg("value")), scores == 0 && d.of(n.Arg("attn_mask")) == 0
	case name == "embedding":
		return d.of(n.Arg("weight")), true
	case fills(n): // the padding has no share
	case slices.Contains(homogeneous, name):
		return d.equal(slices.DeleteFunc(operands(n), func(v any) bool { return !d.carries(v) })...)
	case slices.Contains(additive, name):
		return d.equal(n.Arg("self"), n.Arg("other"))
	case name == "where":
		degree, ok = d.equal(n.Arg("self"), n.Arg("other"))
		return degree, ok && d.of(n.Arg("condition")) == 0
	case name == "masked_fill":
		degree, ok = d.equal(n.Arg("self"), n.Arg("value"))
		return degree, ok && d.of(n.Arg("mask")) == 0
	case name == "mul":
		return d.of(n.Arg("self")) + d.of(n.Arg("other")), true
	case name == "div":
		return d.of(n.Arg("self")) - d.of(n.Arg("other")), n.Arg("rounding_mode") == nil
	case slices.Contains(affine, name) && d.of(n.Args[0].Value) == 0:
		degree, ok = d.equal(n.Arg("weight"), n.Arg("bias"))
		return degree, ok && (degree == 0 || n.Arg("weight") != nil)
	}
	ok = !sums
	n.Reads(func(read any) { ok = ok && d.of(read) == 0 })
	return 0, ok
}

// fills reports whether a node pads with a value other than zero.
func fills(n *graph.Node) bool {
	value := n.Arg("value")
	return slices.Contains([]string{"pad", "constant_pad_nd"}, op(n)) && value != nil && value != any(int64(0)) &&
		value != any(0.0)
}
