package transformer

import (
	"fmt"
	"math"

	"graft/model/graph"
	"graft/torch/weights"
)

// New builds a network that maps tokens of shape [batch, length] to logits. The shape of the logits is [batch, length,
// vocabulary] for the task NextToken, [batch, classes] for TextLabel, and [batch, length, classes] for TokenLabel.
func New(c Config) (*graph.Graph, error) {
	c.EnsureDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	input := graph.Input{Value: "tokens", DType: weights.Int64,
		Shape: []graph.Size{{Name: "batch", N: 2}, {Name: "length", N: c.Context}}}
	b := &builder{Config: c, Builder: graph.NewBuilder("Transformer", input, c.DType)}
	b.network()
	b.Graph.Recover(nil)
	if err := b.Graph.Check(); err != nil {
		return nil, fmt.Errorf("transformer: %w", err)
	}
	return b.Graph, nil
}

type builder struct {
	Config
	*graph.Builder
	cos, sin graph.Value // tables of rotary positions
	seen     any         // mask of tokens that are not padding, [batch, 1, 1, length]; nil without padding
}

func (b *builder) network() {
	var x graph.Value
	var embedding graph.Weight
	b.Module("tok", "Embedding", func() {
		embedding = b.Parameter("weight", "normal 0.02", b.Vocabulary, b.Width)
		x = b.Call("embedding.default", "weight", embedding, "indices", b.Graph.Input.Value)
	})
	x = b.positions(x)
	if b.EmbedNorm {
		x = b.norm("embed_norm", "embed_norm", x)
	}
	x = b.dropout("drop", x)
	if b.Padded {
		seen := b.Call("ne.Scalar", "self", b.Graph.Input.Value, "other", b.Vocabulary-1)
		b.seen = b.Call("unsqueeze.default", "self", b.Call("unsqueeze.default", "self", seen, "dim", 1), "dim", 1)
	}
	b.Module("blocks", "ModuleList", func() {
		for k := range b.Depth {
			b.Module(fmt.Sprint(k), "Block", func() { x = b.block(x, k) })
		}
	})
	if !b.Post {
		x = b.norm("norm", "norm", x)
	}
	b.Graph.Output = b.head(x, embedding)
}

func (b *builder) head(x graph.Value, embedding graph.Weight) graph.Value {
	const init = "normal 0.02"
	switch {
	case b.Task == NextToken && !b.Untied:
		return b.Call("linear.default", "input", x, "weight", embedding)
	case b.Task == NextToken:
		return b.linear("head", x, b.Vocabulary, b.Width, init, false)
	case b.Task == TextLabel:
		x = b.linear("pool", b.Call("select.int", "self", x, "dim", 1, "index", 0), b.Width, b.Width, init, true)
		b.Module("tanh", "Tanh", func() { x = b.Call("tanh.default", "self", x) })
	}
	return b.linear("head", b.dropout("head_drop", x), b.Classes, b.Width, init, true)
}

// positions adds learned positions, or makes the tables of rotary ones.
func (b *builder) positions(x graph.Value) graph.Value {
	length := func() graph.Value { return b.Call("sym_size.int", "self", b.Graph.Input.Value, "dim", 1) }
	switch {
	case b.Positions == Learned:
		b.Module("pos", "Embedding", func() {
			table := b.Parameter("weight", "normal 0.02", b.Context, b.Width)
			rows := b.Call("slice.Tensor", "self", table, "dim", 0, "start", 0, "end", length())
			x = b.Call("add.Tensor", "self", x, "other", rows)
		})
	case b.rotary():
		// Angles are computed in float64 and rounded once, like the tables of exported networks.
		frequencies := b.Tensor(graph.Tensor{Name: "frequencies", Role: graph.Constant, DType: weights.Float64,
			Shape: []int{b.Size / 2}, Init: fmt.Sprintf("rotary %v", b.Base)})
		places := b.Call("arange.default", "end", length(), "dtype", weights.Float64)
		angles := b.Call("outer.default", "self", places, "vec2", frequencies)
		b.cos = b.Call("to.dtype", "self", b.Call("cos.default", "self", angles), "dtype", b.Config.DType)
		b.sin = b.Call("to.dtype", "self", b.Call("sin.default", "self", angles), "dtype", b.Config.DType)
	}
	return x
}

func (b *builder) dropout(name string, x graph.Value) graph.Value {
	if b.Dropout == 0 {
		return x
	}
	b.Module(name, "Dropout", func() {
		x = b.Call("dropout.default", "input", x, "p", b.Dropout)
	})
	return x
}

func (b *builder) linear(name string, x graph.Value, out, in int, init string, bias bool) graph.Value {
	b.Module(name, "Linear", func() {
		weight := b.Parameter("weight", init, out, in)
		var shift graph.Weight
		if bias {
			shift = b.Parameter("bias", "zeros", out)
		}
		x = b.Call("linear.default", "input", x, "weight", weight, "bias", shift)
	})
	return x
}

func (b *builder) norm(name, path string, x graph.Value) graph.Value {
	eps := b.eps(path)
	if b.Norm == RMSNorm {
		b.Module(name, "RMSNorm", func() {
			x = b.Call("rms_norm.default", "input", x, "normalized_shape", []int{b.Width}, "weight",
				b.Parameter("weight", "ones", b.Width), "eps", eps)
		})
		return x
	}
	b.Module(name, "LayerNorm", func() {
		weight, bias := b.Parameter("weight", "ones", b.Width), b.Parameter("bias", "zeros", b.Width)
		x = b.Call("layer_norm.default", "input", x, "normalized_shape", []int{b.Width}, "weight", weight, "bias", bias,
			"eps", eps)
	})
	return x
}

// block adds two branches to the stream, attention and a feed-forward.
func (b *builder) block(x graph.Value, k int) graph.Value {
	drop := b.DropPath * float64(k) / float64(max(b.Depth-1, 1))
	for at, run := range []func(graph.Value) graph.Value{b.attention, b.feedForward} {
		norm := fmt.Sprintf("ln%d", at+1)
		path := fmt.Sprintf("blocks.%d.%s", k, norm)
		branch := func(x graph.Value) graph.Value {
			return b.StochasticDepth(fmt.Sprintf("path%d", at+1), run(x), drop)
		}
		if b.Post {
			x = b.norm(norm, path, b.Call("add.Tensor", "self", x, "other", branch(x)))
		} else {
			x = b.Call("add.Tensor", "self", x, "other", branch(b.norm(norm, path, x)))
		}
	}
	return x
}

// writer is the initialisation of layers that add to the stream: GPT-2's, which divides by the square root of their
// number.
func (b *builder) writer() string {
	return fmt.Sprintf("normal %.6g", 0.02/math.Sqrt(2*float64(b.Depth)))
}

func (b *builder) attention(x graph.Value) graph.Value {
	const init = "normal 0.02"
	rows := []int{b.Heads * b.Size, b.Groups * b.Size, b.Groups * b.Size}
	var parts []graph.Value
	if b.Stacked {
		all := b.linear("qkv", x, rows[0]+rows[1]+rows[2], b.Width, init, !b.NoBias)
		parts = b.Calls("split_with_sizes.default", 3, "self", all, "split_sizes", rows, "dim", -1)
	} else {
		for k, name := range []string{"q", "k", "v"} {
			parts = append(parts, b.linear(name, x, rows[k], b.Width, init, !b.NoBias))
		}
	}
	q, k, v := b.heads(parts[0], b.Heads), b.heads(parts[1], b.Groups), b.heads(parts[2], b.Groups)
	if b.rotary() {
		q, k = b.rotate(q), b.rotate(k)
	}
	if b.Groups < b.Heads {
		k = b.Call("repeat_interleave.self_int", "self", k, "repeats", b.Heads/b.Groups, "dim", 1)
		v = b.Call("repeat_interleave.self_int", "self", v, "repeats", b.Heads/b.Groups, "dim", 1)
	}
	var scale, dropout any
	if b.Scale != 0 {
		scale = b.Scale
	}
	if b.Dropout > 0 {
		dropout = b.Dropout
	}
	x = b.Call("scaled_dot_product_attention.default", "query", q, "key", k, "value", v, "attn_mask", b.seen,
		"dropout_p", dropout, "is_causal", !b.Full, "scale", scale)
	x = b.Call("flatten.using_ints", "self", b.Call("transpose.int", "self", x, "dim0", 1, "dim1", 2), "start_dim", 2)
	return b.dropout("drop1", b.linear("o", x, b.Width, b.Heads*b.Size, b.writer(), !b.NoBias))
}

func (b *builder) heads(x graph.Value, heads int) graph.Value {
	x = b.Call("unflatten.int", "self", x, "dim", -1, "sizes", []int{heads, b.Size})
	return b.Call("transpose.int", "self", x, "dim0", 1, "dim1", 2)
}

// rotate rotates pairs of dimensions by angles that grow with the position.
func (b *builder) rotate(x graph.Value) graph.Value {
	times := func(x, by graph.Value) graph.Value { return b.Call("mul.Tensor", "self", x, "other", by) }
	var parts []graph.Value
	if b.Positions == RotaryHalves {
		parts = b.Calls("chunk.default", 2, "self", x, "chunks", 2, "dim", -1)
	} else {
		pairs := b.Call("unflatten.int", "self", x, "dim", -1, "sizes", []int{b.Size / 2, 2})
		parts = b.Calls("unbind.int", 2, "self", pairs, "dim", -1)
	}
	u := b.Call("sub.Tensor", "self", times(parts[0], b.cos), "other", times(parts[1], b.sin))
	v := b.Call("add.Tensor", "self", times(parts[0], b.sin), "other", times(parts[1], b.cos))
	if b.Positions == RotaryHalves {
		return b.Call("cat.default", "tensors", []graph.Value{u, v}, "dim", -1)
	}
	return b.Call("flatten.using_ints", "self", b.Call("stack.default", "tensors", []graph.Value{u, v}, "dim", -1),
		"start_dim", -2)
}

func (b *builder) feedForward(x graph.Value) graph.Value {
	const init = "normal 0.02"
	up := b.linear("up", x, b.Hidden, b.Width, init, !b.NoBias)
	switch b.MLP {
	case SwiGLU:
		gate := b.linear("gate", x, b.Hidden, b.Width, init, !b.NoBias)
		up = b.Call("mul.Tensor", "self", b.Call("silu.default", "self", gate), "other", up)
	case ReLU:
		up = b.Call("relu.default", "self", up)
	default:
		up = b.Call("gelu.default", "self", up)
	}
	up = b.dropout("drop2", up)
	return b.dropout("drop3", b.linear("down", up, b.Width, b.Hidden, b.writer(), !b.NoBias))
}
