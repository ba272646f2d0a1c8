package vision

import (
	"graft/model/graph"
)

// ViT describes a vision transformer (Dosovitskiy et al., An Image is Worth 16x16 Words, 2021) with norms before its
// branches.
type ViT struct{ Patch, Width, Heads, Depth int }

// Graph builds the network for images of [channels, height, width]. The modules have the same names as in timm.
func (v ViT) Graph(input []int, classes int) (*graph.Graph, error) {
	return build("VisionTransformer", input, v.Patch, func(b *builder, x graph.Value) graph.Value {
		places := input[1] / v.Patch * (input[2] / v.Patch)
		cls := b.Parameter("cls_token", normal, 1, 1, v.Width)
		pos := b.Parameter("pos_embed", normal, 1, places+1, v.Width)
		batch := b.Call("sym_size.int", "self", x, "dim", 0)
		x = b.patches("patch_embed", x, input[0], v.Patch, v.Width)
		first := b.Call("expand.default", "self", cls, "size", []any{batch, int64(-1), int64(-1)})
		x = b.Call("cat.default", "tensors", []graph.Value{first, x}, "dim", 1)
		x = b.Call("add.Tensor", "self", x, "other", pos)
		b.list("blocks", v.Depth, "Block", func(int) {
			x = b.add(x, b.attention(b.layerNorm("norm1", x, v.Width), v.Width, v.Heads))
			x = b.add(x, b.mlp("mlp", b.layerNorm("norm2", x, v.Width), v.Width, 4*v.Width))
		})
		x = b.layerNorm("norm", x, v.Width)
		x = b.Call("select.int", "self", x, "dim", 1, "index", 0)
		return b.linear("head", x, classes, v.Width)
	})
}

func (b *builder) attention(x graph.Value, width, heads int) graph.Value {
	b.Module("attn", "Attention", func() {
		all := b.linear("qkv", x, 3*width, width)
		parts := b.Calls("chunk.default", 3, "self", all, "chunks", 3, "dim", -1)
		for k := range parts {
			parts[k] = b.Call("unflatten.int", "self", parts[k], "dim", -1, "sizes", []int{heads, width / heads})
			parts[k] = b.Call("transpose.int", "self", parts[k], "dim0", 1, "dim1", 2)
		}
		x = b.Call("scaled_dot_product_attention.default", "query", parts[0], "key", parts[1], "value", parts[2])
		x = b.Call("flatten.using_ints", "self", b.Call("transpose.int", "self", x, "dim0", 1, "dim1", 2),
			"start_dim", 2)
		x = b.linear("proj", x, width, width)
	})
	return x
}

// Mixer describes an MLP-Mixer (Tolstikhin et al. 2021) with one feed-forward layer over positions and one over
// channels per block.
type Mixer struct{ Patch, Width, Tokens, Hidden, Depth int }

// Graph builds the network for images of [channels, height, width]. The modules have the same names as in timm.
func (m Mixer) Graph(input []int, classes int) (*graph.Graph, error) {
	return build("MlpMixer", input, m.Patch, func(b *builder, x graph.Value) graph.Value {
		places := input[1] / m.Patch * (input[2] / m.Patch)
		x = b.patches("stem", x, input[0], m.Patch, m.Width)
		turn := func(x graph.Value) graph.Value { return b.Call("transpose.int", "self", x, "dim0", 1, "dim1", 2) }
		b.list("blocks", m.Depth, "MixerBlock", func(int) {
			x = b.add(x, turn(b.mlp("mlp_tokens", turn(b.layerNorm("norm1", x, m.Width)), places, m.Tokens)))
			x = b.add(x, b.mlp("mlp_channels", b.layerNorm("norm2", x, m.Width), m.Width, m.Hidden))
		})
		x = b.layerNorm("norm", x, m.Width)
		return b.linear("head", b.Call("mean.dim", "self", x, "dim", []int{1}), classes, m.Width)
	})
}
