package vocab

import (
	"fmt"
	"math"
	"slices"

	"graft/model/graph"
)

// operatorKinds are the kinds of operators. All others are Other, described only by their measures.
var operatorKinds = map[string]Kind{"linear": Matrix, "addmm": Matrix, "conv1d": Convolution, "conv2d": Convolution,
	"conv3d":     Convolution,
	"batch_norm": BatchNorm, "instance_norm": GroupNorm, "group_norm": GroupNorm, "layer_norm": LayerNorm,
	"rms_norm": LayerNorm,
	"relu":     ReLU, "relu6": ReLU6, "hardtanh": ReLU6, "leaky_relu": LeakyReLU, "sigmoid": Sigmoid, "tanh": Tanh,
	"gelu": GELU, "silu": SiLU, "hardswish": Hardswish, "elu": ELU,
	"avg_pool1d": AvgPool, "avg_pool2d": AvgPool, "avg_pool3d": AvgPool, "max_pool1d": MaxPool, "max_pool2d": MaxPool,
	"max_pool3d":          MaxPool,
	"adaptive_avg_pool1d": AdaptivePool, "adaptive_avg_pool2d": AdaptivePool, "adaptive_avg_pool3d": AdaptivePool,
	"mean": AdaptivePool, "dropout": Dropout, "cat": Cat,
	"scaled_dot_product_attention": Attention, "embedding": Embedding, "lstm": Recurrent, "gru": Recurrent,
	"rnn_tanh": Recurrent, "rnn_relu": Recurrent}

// ReadGraph returns the structure of a network that is a graph of operators. Operators that only move values, such as a
// reshape, have no token.
func ReadGraph(g *graph.Graph) (*Structure, error) {
	shapes, err := g.Shapes()
	if err != nil {
		return nil, fmt.Errorf("read the structure of %s: %w", g.Name, err)
	}
	operations, err := g.Operations()
	if err != nil {
		return nil, fmt.Errorf("read the structure of %s: %w", g.Name, err)
	}
	r := &graphReader{Structure: &Structure{nodes: map[int]int{}}, g: g, shapes: shapes, from: map[graph.Value][]int{},
		seen: map[string]bool{}}
	for k := range g.Nodes {
		r.node(k, operations[k])
	}
	r.place()
	return r.Structure, nil
}

// TokenOf returns the index of the token of a graph's node, and false if the node has none.
func (s *Structure) TokenOf(node int) (int, bool) {
	k, ok := s.nodes[node]
	return k, ok
}

type graphReader struct {
	*Structure
	g      *graph.Graph
	shapes map[graph.Value][]int
	from   map[graph.Value][]int // tokens that feed a value
	seen   map[string]bool       // tensors that were counted
}

// node adds a token, or passes on the inputs of an operator that only moves values.
func (r *graphReader) node(at int, operations int64) {
	n := &r.g.Nodes[at]
	name := n.Name()
	var from []int
	values, weights := 0, []*graph.Tensor{}
	n.Reads(func(arg any) {
		switch arg := arg.(type) {
		case graph.Value:
			values++
			for _, k := range r.from[arg] {
				if !slices.Contains(from, k) {
					from = append(from, k)
				}
			}
		case graph.Weight:
			weights = append(weights, r.g.Tensor(string(arg)))
		}
	})
	kind := operatorKinds[name]
	if name == "add" && values == 2 {
		kind = Sum
	}
	if kind == Other && operations == 0 && len(weights) == 0 {
		r.feed(n, from)
		return
	}
	t := Token{Path: n.Module, Kind: kind, Stride: 1, Operations: operations}
	t.Out, t.To = r.size(n.Results[0], kind)
	t.In, t.From = t.Out, t.To
	if x, ok := n.Args[0].Value.(graph.Value); ok {
		t.In, t.From = r.size(x, kind)
	}
	r.measure(&t, weights)
	k := len(r.Tokens)
	r.nodes[at] = k
	r.Tokens, r.Before, r.After = append(r.Tokens, t), append(r.Before, from), append(r.After, nil)
	for _, before := range from {
		r.After[before] = append(r.After[before], k)
	}
	r.feed(n, []int{k})
}

func (r *graphReader) feed(n *graph.Node, from []int) {
	for _, v := range n.Results {
		r.from[v] = from
	}
}

// size returns the channels, or features, of a value, and its positions.
func (r *graphReader) size(v graph.Value, kind Kind) (channels, positions int) {
	shape := r.shapes[v]
	if len(shape) < 2 {
		return 1, 1
	}
	at := len(shape) - 1
	if len(shape) > 2 && slices.Contains([]Kind{Convolution, BatchNorm, GroupNorm, AvgPool, MaxPool,
		AdaptivePool}, kind) {
		at = 1
	}
	positions = 1
	for k, size := range shape {
		if k != 0 && k != at {
			positions *= max(1, size)
		}
	}
	return max(1, shape[at]), positions
}

// measure adds sizes from the weights.
func (r *graphReader) measure(t *Token, weights []*graph.Tensor) {
	if t.From > 0 && t.To > 0 {
		t.Stride = math.Sqrt(float64(t.From) / float64(t.To))
	}
	for k, w := range weights {
		if name := w.Name; w.Role == graph.Parameter && w.Tied == "" && !r.seen[name] {
			r.seen[name] = true
			t.Parameters += w.Count()
		}
		if t.Kind != Convolution || k > 0 || len(w.Shape) < 3 {
			continue
		}
		t.Kernel, t.Groups = 1, t.In/max(1, w.Shape[1])
		for _, size := range w.Shape[2:] {
			t.Kernel *= size
		}
	}
}
