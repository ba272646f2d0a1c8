package graph

import (
	"cmp"
	"strings"
)

// Operations returns the number of floating-point operations of each node for one example; a multiply and an add count
// as two. Operators that only move values count as zero. Some counts differ from a tree of layers: pools count one
// operation per output, layer norms and group norms eight per value, sums of branches one per value, and dropout none.
// Measured times of operators are stored with these counts.
func (g *Graph) Operations() ([]int64, error) {
	s, err := g.Sizes()
	if err != nil {
		return nil, err
	}
	counts := make([]int64, len(g.Nodes))
	for k := range g.Nodes {
		counts[k] = s.Operations(&g.Nodes[k])
	}
	return counts, nil
}

// Operations returns the number of floating-point operations of a node for one example, as [Graph.Operations] does.
func (s *Sizes) Operations(n *Node) int64 { return s.operations(n) / s.batch }

// moving are operators that compute nothing.
var moving = strings.Fields(`view reshape flatten unflatten transpose swapaxes t numpy_T permute movedim expand
	expand_as squeeze unsqueeze select slice narrow chunk split split_with_sizes unbind alias detach contiguous to
	type_as view_as reshape_as cat stack clone embedding index index_select gather repeat repeat_interleave arange
	zeros ones full sym_size operator dropout slice_scatter select_scatter pad constant_pad_nd
	reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d flip roll tile pixel_shuffle pixel_unshuffle
	channel_shuffle diagonal unfold im2col meshgrid linspace one_hot new_zeros new_ones new_full zeros_like ones_like
	full_like _to_copy`)

var movers = func() map[string]bool {
	set := map[string]bool{}
	for _, name := range moving {
		set[name] = true
	}
	return set
}()

// Moves reports whether a node only moves values or computes sizes, without arithmetic on values.
func (n *Node) Moves() bool {
	return movers[n.Name()]
}

// viewers are operators whose results may share memory with their inputs.
var viewers = wordSet(`view reshape flatten unflatten transpose swapaxes t numpy_T permute movedim expand expand_as
	squeeze unsqueeze select slice narrow chunk split split_with_sizes unbind alias detach contiguous to type_as
	view_as reshape_as diagonal unfold dropout feature_dropout sym_size operator meshgrid`)

// Views reports whether the results of a node are sizes, or may share memory with the node's inputs.
func (n *Node) Views() bool {
	return viewers[n.Name()]
}

// Sizes reports whether a node computes sizes, not values.
func (n *Node) Sizes() bool {
	op := n.Name()
	return op == "sym_size" || op == "operator"
}

func (s *Sizes) operations(n *Node) int64 {
	op := n.Name()
	if movers[op] || len(n.Results) == 0 {
		return 0
	}
	out := int64(product(s.shapes[n.Results[0]]))
	if count, known := s.products(n, op, out); known {
		return count
	}
	switch op {
	case "layer_norm", "rms_norm", "group_norm":
		return 8 * out
	case "batch_norm":
		return 4 * out
	case "softmax", "log_softmax":
		return 5 * out
	}
	return out
}

// products returns the number of operations of a node that sums products. Out is the number of values of its result.
func (s *Sizes) products(n *Node, op string, out int64) (count int64, known bool) {
	shape, bias := s.Of, int64(0)
	if n.Arg("bias") != nil {
		bias = out
	}
	switch op {
	case "linear", "conv1d", "conv2d", "conv3d":
		if w := shape(n.Arg("weight")); len(w) > 0 {
			return 2*out*int64(product(w[1:])) + bias, true
		}
	case "matmul", "bmm", "mm":
		if a := shape(n.Args[0].Value); len(a) > 0 {
			return 2 * out * int64(a[len(a)-1]), true
		}
	case "mv", "dot":
		return 2 * int64(product(shape(n.Args[0].Value))), true
	case "bilinear":
		if w := shape(n.Arg("weight")); len(w) == 3 {
			return 2*out*int64(w[1])*int64(w[2]) + bias, true
		}
	case "cdist":
		if a := shape(n.Args[0].Value); len(a) > 0 {
			return 3 * out * int64(a[len(a)-1]), true
		}
	case "einsum":
		return s.einsum(n), true
	case "addmm", "baddbmm":
		if a := shape(cmp.Or(n.Arg("mat1"), n.Arg("batch1"))); len(a) > 0 {
			return 2*out*int64(a[len(a)-1]) + out, true
		}
	case "conv_transpose1d", "conv_transpose2d", "conv_transpose3d": // an input value meets the kernels of its channel
		if w := shape(n.Arg("weight")); len(w) > 0 {
			return 2*int64(product(shape(n.Args[0].Value)))*int64(product(w[1:])) + bias, true
		}
	case "scaled_dot_product_attention": // scores, softmax, and their products with the values
		q, k, v := shape(n.Arg("query")), shape(n.Arg("key")), shape(n.Arg("value"))
		if len(q) > 1 && len(k) > 1 && len(v) > 0 {
			rows, keys := int64(product(q[:len(q)-1])), int64(k[len(k)-2])
			return rows * keys * int64(2*q[len(q)-1]+2*v[len(v)-1]+5), true
		}
	case "lstm", "gru", "rnn_tanh", "rnn_relu":
		return s.recurrent(n), true
	}
	return 0, false
}

// recurrent counts the products with the weights at each place of each sequence.
func (s *Sizes) recurrent(n *Node) int64 {
	sum := int64(0)
	params, _ := n.Arg("params").([]any)
	for _, p := range params {
		if w := s.Of(p); len(w) == 2 {
			sum += 2 * int64(product(w))
		}
	}
	return sum * int64(product(s.Of(n.Args[0].Value)[:2]))
}

// einsum counts a multiply for each further operand and an add, for each combination of the letters' sizes.
func (s *Sizes) einsum(n *Node) int64 {
	items, _ := n.Arg("tensors").([]any)
	of := &shaper{shapes: s.shapes, tensors: s.tensors, n: n}
	sizes, _ := of.einsum()
	count := int64(len(items))
	for _, size := range sizes {
		count *= int64(size)
	}
	return count
}
