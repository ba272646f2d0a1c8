package rewrite

import (
	"math"
	"slices"
	"strings"

	"graft/model/graph"
	"graft/tracing/axes"
)

// resizer gives the operators of a graph the sizes of axes that change.
type resizer struct {
	*axes.Axes
	sizes map[*axes.Term]int // after the change
}

// size is the size of a term afterwards.
func (r *resizer) size(t *axes.Term) int {
	t = t.Find()
	if n, changed := r.sizes[t]; changed {
		return n
	}
	if t.Kind == axes.Axis {
		return t.Size
	}
	n := 1
	if t.Kind == axes.Sum {
		n = 0
	}
	for _, p := range t.Parts {
		if t.Kind == axes.Sum {
			n += r.size(p)
		} else {
			n *= r.size(p)
		}
	}
	return n
}

func (r *resizer) changed(t *axes.Term) bool { return r.size(t) != t.Find().Size }

func (r *resizer) dims(arg any) []*axes.Term {
	switch v := arg.(type) {
	case graph.Value:
		return r.Values[v]
	case graph.Weight:
		return r.Tensors[string(v)]
	}
	return nil
}

// node changes the literal sizes among a node's arguments.
func (r *resizer) node(n *graph.Node) {
	if len(n.Results) == 0 || len(n.Args) == 0 {
		return
	}
	in, out := r.dims(n.Args[0].Value), r.Values[n.Results[0]]
	op, _, _ := strings.Cut(n.Operator, ".")
	switch op {
	case "view", "reshape", "expand", "zeros", "ones", "full", "new_zeros", "new_ones", "new_full":
		r.literals(n, "size", out)
		r.literals(n, "shape", out)
	case "unflatten":
		if dim := wrap(n, "dim", 0, len(in)); dim >= 0 {
			r.literals(n, "sizes", out[dim:])
		}
	case "layer_norm", "rms_norm":
		if sizes, ok := n.Arg("normalized_shape").([]any); ok {
			r.literals(n, "normalized_shape", out[len(out)-len(sizes):])
		}
	case "split":
		r.split(n, in)
	case "split_with_sizes":
		r.parts(n, "split_sizes", in)
	case "slice":
		r.slice(n, in)
	case "repeat_interleave", "repeat":
		r.repeats(n, in, out)
	case "conv1d", "conv2d", "conv3d":
		r.groups(n, "groups", in)
	case "group_norm":
		r.groups(n, "num_groups", in)
	case "scaled_dot_product_attention":
		r.scale(n)
	}
}

func wrap(n *graph.Node, name string, missing, dims int) int {
	d := missing
	if v, ok := n.Arg(name).(int64); ok {
		d = int(v)
	}
	if d < 0 {
		d += dims
	}
	return d
}

// literals replaces numbers of a list by the sizes of dimensions; -1 and named sizes stay.
func (r *resizer) literals(n *graph.Node, name string, dims []*axes.Term) {
	list, ok := n.Arg(name).([]any)
	if !ok {
		return
	}
	list = slices.Clone(list)
	for k, item := range list {
		if number, literal := item.(int64); literal && number >= 0 && k < len(dims) && r.changed(dims[k]) {
			list[k] = int64(r.size(dims[k]))
		}
	}
	n.Set(name, list)
}

func (r *resizer) split(n *graph.Node, in []*axes.Term) {
	if _, list := n.Arg("split_sizes").([]any); list {
		r.parts(n, "split_sizes", in)
		return
	}
	dim := wrap(n, "dim", 0, len(in))
	parts := r.partSizes(n, dim)
	if !r.changed(in[dim]) {
		return
	}
	if equal := slices.Repeat(parts[:1], len(parts)); slices.Equal(equal, parts) {
		n.Set("split_size", int64(parts[0]))
		return
	}
	n.Operator = "split_with_sizes.default" // parts that are not equal any more
	n.Args = []graph.Arg{n.Args[0], {Name: "split_sizes", Value: whole(parts)}, {Name: "dim", Value: int64(dim)}}
}

func whole(sizes []int) []any {
	list := make([]any, len(sizes))
	for k, size := range sizes {
		list[k] = int64(size)
	}
	return list
}

func (r *resizer) partSizes(n *graph.Node, dim int) []int {
	sizes := make([]int, len(n.Results))
	for k, v := range n.Results {
		sizes[k] = r.size(r.Values[v][dim])
	}
	return sizes
}

func (r *resizer) parts(n *graph.Node, name string, in []*axes.Term) {
	if dim := wrap(n, "dim", 0, len(in)); r.changed(in[dim]) {
		n.Set(name, whole(r.partSizes(n, dim)))
	}
}

// slice moves the ends of a part of a sum.
func (r *resizer) slice(n *graph.Node, in []*axes.Term) {
	dim := wrap(n, "dim", 0, len(in))
	if !r.changed(in[dim]) {
		return
	}
	from := wrap(n, "start", 0, in[dim].Find().Size)
	before, after := 0, 0
	for _, p := range in[dim].Summands() {
		if before == from {
			break
		}
		before, after = before+p.Find().Size, after+r.size(p)
	}
	out := r.Values[n.Results[0]][dim]
	if from > 0 {
		n.Set("start", int64(after))
	}
	if end, literal := n.Arg("end").(int64); literal && end != math.MaxInt64 {
		n.Set("end", int64(after+r.size(out)))
	}
}

func (r *resizer) repeats(n *graph.Node, in, out []*axes.Term) {
	if list, ok := n.Arg("repeats").([]any); ok {
		list = slices.Clone(list)
		for k := range list {
			if at := k - len(list) + len(in); at >= 0 && r.size(in[at]) > 0 {
				list[k] = int64(r.size(out[k]) / r.size(in[at]))
			} else if r.changed(out[k]) {
				list[k] = int64(r.size(out[k]))
			}
		}
		n.Set("repeats", list)
		return
	}
	if dim := wrap(n, "dim", 0, len(in)); n.Arg("dim") != nil {
		n.Set("repeats", int64(r.size(out[dim])/r.size(in[dim])))
	}
}

// groups changes their number: groups keep their size.
func (r *resizer) groups(n *graph.Node, name string, in []*axes.Term) {
	count, ok := n.Arg(name).(int64)
	if !ok || count < 2 || !r.changed(in[1]) {
		return
	}
	size := in[1].Find().Size / int(count)
	n.Set(name, int64(r.size(in[1])/size))
}

// scale states the scale of scores, whose default follows the size of a head.
func (r *resizer) scale(n *graph.Node) {
	q := r.dims(n.Arg("query"))
	if size := q[len(q)-1]; r.changed(size) && n.Arg("scale") == nil {
		n.Set("scale", 1/math.Sqrt(float64(size.Find().Size)))
	}
}
