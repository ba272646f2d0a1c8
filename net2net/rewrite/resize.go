package rewrite

import (
	"fmt"
	"math"
	"slices"

	"graft/model/graph"
	"graft/tracing/axes"
)

// resizer updates the operators of a graph for axes that change their size.
type resizer struct {
	*axes.Axes
	sizes map[*axes.Term]int // new sizes
	after *graph.Graph

	at         int                  // current node
	added      map[int][]graph.Node // nodes to insert before a node
	sizesAdded map[string]graph.Value
	taken      map[graph.Value]bool
}

// resize gives the operators of a plan's graph their sizes.
func resize(a *axes.Axes, p *Plan, sizes map[*axes.Term]int) (*Plan, error) {
	r := &resizer{Axes: a, sizes: sizes, after: p.Graph, added: map[int][]graph.Node{},
		sizesAdded: map[string]graph.Value{}, taken: valuesOf(p.Graph)}
	for r.at = range p.Graph.Nodes {
		r.node(&p.Graph.Nodes[r.at])
	}
	r.insert()
	if _, err := p.finish(); err != nil {
		return nil, err
	}
	return p, r.fits()
}

// size is the new size of a term.
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

// node updates the literal sizes in a node's arguments.
func (r *resizer) node(n *graph.Node) {
	if len(n.Results) == 0 || len(n.Args) == 0 {
		return
	}
	in, out := r.dims(n.Args[0].Value), r.Values[n.Results[0]]
	op := n.Name()
	switch op {
	case "view":
		reshaped(n)
		r.literals(n, "shape", out)
	case "reshape", "expand", "zeros", "ones", "full", "new_zeros", "new_ones", "new_full":
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
	case "split", "chunk":
		r.split(n, in)
	case "split_with_sizes":
		r.parts(n, "split_sizes", in)
	case "slice":
		r.slice(n, in)
	case "repeat_interleave", "repeat":
		r.repeats(n, in, out)
	case "conv1d", "conv2d", "conv3d":
		r.groups(n, in[1], r.dims(n.Arg("weight"))[1])
	case "group_norm":
		r.normGroups(n, in[1])
	case "scaled_dot_product_attention":
		r.scale(n)
	}
}

// reshaped makes a view a reshape. Whether a tensor has a view of other dimensions depends on its layout, which depends
// on the sizes: attention chooses a kernel by the sizes of keys and values, and a dimension of size 1 has any stride.
func reshaped(n *graph.Node) {
	if _, sizes := n.Arg("size").([]any); n.Operator != "view.default" || !sizes {
		return
	}
	n.Operator, n.Args = "reshape.default", slices.Clone(n.Args)
	for k := range n.Args {
		if n.Args[k].Name == "size" {
			n.Args[k].Name = "shape"
		}
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
		if k >= len(dims) || !r.changed(dims[k]) {
			continue
		}
		switch v := item.(type) {
		case int64:
			if v >= 0 {
				list[k] = int64(r.size(dims[k]))
			}
		case graph.Value:
			list[k] = r.factor(v, dims[k])
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
		if n.Arg("chunks") == nil {
			n.Set("split_size", int64(parts[0]))
		}
		return
	}
	n.Operator = "split_with_sizes.default" // the parts are no longer equal
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

// slice moves the ends of a slice of a sum of axes.
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

// groups changes the number of groups of a convolution: the number or the size of groups may have changed.
func (r *resizer) groups(n *graph.Node, channels, each *axes.Term) {
	if count, ok := n.Arg("groups").(int64); ok && count > 1 && r.changed(channels) {
		n.Set("groups", int64(r.size(channels)/r.size(each)))
	}
}

// normGroups changes the number of groups of a normalisation: groups keep their size.
func (r *resizer) normGroups(n *graph.Node, channels *axes.Term) {
	if count, ok := n.Arg("num_groups").(int64); ok && count > 1 && r.changed(channels) {
		size := channels.Find().Size / int(count)
		n.Set("num_groups", int64(r.size(channels)/size))
	}
}

// scale makes the scale of scores explicit, because its default depends on the size of a head.
func (r *resizer) scale(n *graph.Node) {
	q := r.dims(n.Arg("query"))
	if size := q[len(q)-1]; r.changed(size) && n.Arg("scale") == nil {
		n.Set("scale", 1/math.Sqrt(float64(size.Find().Size)))
	}
}

// factor returns a size like another one with a dimension's new factor, such as the batch times more heads. Other
// dimensions may continue to read the old one.
func (r *resizer) factor(size graph.Value, dim *axes.Term) graph.Value {
	for k := range r.Graph.Nodes {
		n := r.Graph.Nodes[k]
		if n.Operator != "operator.mul" || !slices.Contains(n.Results, size) {
			continue
		}
		n.Args = slices.Clone(n.Args)
		for j, a := range n.Args {
			if number, ok := a.Value.(int64); ok && number > 0 {
				n.Args[j].Value = int64(r.size(dim)) * number / int64(dim.Find().Size)
			}
		}
		n.Results = nil
		key := n.String()
		if r.sizesAdded[key] == "" {
			r.sizesAdded[key] = unused(size, r.taken)
			r.taken[r.sizesAdded[key]] = true
			n.Results = []graph.Value{r.sizesAdded[key]}
			r.added[r.at] = append(r.added[r.at], n)
		}
		return r.sizesAdded[key]
	}
	return size
}

// insert inserts the added operators before their readers.
func (r *resizer) insert() {
	var nodes []graph.Node
	for k, n := range r.after.Nodes {
		nodes = append(append(nodes, r.added[k]...), n)
	}
	r.after.Nodes = nodes
	r.after.DropSizes()
}

// fits checks that the new graph has the sizes of its axes.
func (r *resizer) fits() error {
	shapes, err := r.after.Shapes()
	if err != nil {
		return fmt.Errorf("the graph is invalid after surgery: %w", err)
	}
	for _, n := range r.after.Nodes {
		for _, v := range n.Results {
			for d, t := range r.Values[v] {
				if shapes[v][d] != r.size(t) {
					return fmt.Errorf("cannot resize %s: its result %s must have size %d", n.Operator, v, r.size(t))
				}
			}
		}
	}
	return nil
}
