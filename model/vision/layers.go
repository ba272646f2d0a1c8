// Package vision builds networks for images as graphs: vision transformers, mixers, and recent convolutional networks.
package vision

import (
	"fmt"

	"graft/model/graph"
	"graft/torch/weights"
)

type builder struct{ *graph.Builder }

// build makes the graph of a network from images of [batch, channels, height, width], which are cut into squares, to
// logits.
func build(class string, input []int, square int,
	code func(b *builder, x graph.Value) graph.Value) (*graph.Graph, error) {
	if len(input) != 3 {
		return nil, fmt.Errorf("%s expects images of shape [channels, height, width], got %v", class, input)
	}
	if input[1]%square != 0 || input[2]%square != 0 {
		return nil, fmt.Errorf("%s splits images into patches of %d × %d pixels; the size of the images, "+
			"%d × %d pixels, is not a multiple of the patch size", class, square, square, input[1], input[2])
	}
	in := graph.Input{Value: "images", DType: weights.Float32,
		Shape: []graph.Size{{Name: "batch", N: 2}, {N: input[0]}, {N: input[1]}, {N: input[2]}}}
	b := &builder{graph.NewBuilder(class, in, weights.Float32)}
	b.Graph.Output = code(b, in.Value)
	b.Graph.Recover(nil)
	if err := b.Graph.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", class, err)
	}
	if _, err := b.Graph.Shapes(); err != nil {
		return nil, fmt.Errorf("%s: %w", class, err)
	}
	return b.Graph, nil
}

// list runs code for each module of a numbered list.
func (b *builder) list(name string, count int, class string, code func(k int)) {
	b.Module(name, "ModuleList", func() {
		for k := range count {
			b.Module(fmt.Sprint(k), class, func() { code(k) })
		}
	})
}

// normal is the initialisation of the linear layers and embeddings of vision transformers (Dosovitskiy et al. 2021),
// without truncation.
const normal = "normal 0.02"

func (b *builder) linear(name string, x graph.Value, out, in int) graph.Value {
	b.Module(name, "Linear", func() {
		x = b.Call("linear.default", "input", x, "weight", b.Parameter("weight", normal, out, in), "bias",
			b.Parameter("bias", "zeros", out))
	})
	return x
}

func (b *builder) layerNorm(name string, x graph.Value, width int) graph.Value {
	b.Module(name, "LayerNorm", func() {
		x = b.Call("layer_norm.default", "input", x, "normalized_shape", []int{width}, "weight",
			b.Parameter("weight", "ones", width), "bias", b.Parameter("bias", "zeros", width), "eps", 1e-6)
	})
	return x
}

// mlp is two linear layers with a GELU between them.
func (b *builder) mlp(name string, x graph.Value, width, hidden int) graph.Value {
	b.Module(name, "Mlp", func() {
		x = b.linear("fc2", b.Call("gelu.default", "self", b.linear("fc1", x, hidden, width)), width, hidden)
	})
	return x
}

// convolution is padded to keep the size at a stride of 1, except for patches, which do not overlap.
type convolution struct {
	out, in, kernel, stride, groups int
	patches, bias                   bool
}

func (b *builder) conv(name string, x graph.Value, c convolution) graph.Value {
	groups := max(c.groups, 1)
	padding := (c.kernel - 1) / 2
	if c.patches {
		padding = 0
	}
	b.Module(name, "Conv2d", func() {
		weight := b.Parameter("weight", "", c.out, c.in/groups, c.kernel, c.kernel)
		var bias graph.Weight
		if c.bias {
			bias = b.Parameter("bias", "", c.out)
		}
		x = b.Call("conv2d.default", "input", x, "weight", weight, "bias", bias, "stride", []int{c.stride, c.stride},
			"padding", []int{padding, padding}, "dilation", []int{1, 1}, "groups", groups)
	})
	return x
}

func (b *builder) batchNorm(name string, x graph.Value, channels int) graph.Value {
	b.Module(name, "BatchNorm2d", func() {
		weight, bias := b.Parameter("weight", "ones", channels), b.Parameter("bias", "zeros", channels)
		running := func(name, init string) graph.Weight {
			return b.Tensor(graph.Tensor{Name: name, Role: graph.Buffer, DType: b.DType, Shape: []int{channels},
				Init: init})
		}
		x = b.Call("batch_norm.default", "input", x, "weight", weight, "bias", bias, "running_mean",
			running("running_mean", "zeros"), "running_var", running("running_var", "ones"),
			"momentum", 0.1, "eps", 1e-5)
		b.Tensor(graph.Tensor{Name: "num_batches_tracked", Role: graph.Buffer, DType: weights.Int64})
	})
	return x
}

func (b *builder) add(x, y graph.Value) graph.Value {
	return b.Call("add.Tensor", "self", x, "other", y)
}

// patches cuts images into squares and makes a row of each: [batch, places, width].
func (b *builder) patches(name string, x graph.Value, channels, size, width int) graph.Value {
	b.Module(name, "PatchEmbed", func() {
		x = b.conv("proj", x, convolution{out: width, in: channels, kernel: size, stride: size, patches: true,
			bias: true})
		x = b.Call("transpose.int", "self", b.Call("flatten.using_ints", "self", x, "start_dim", 2), "dim0", 1,
			"dim1", 2)
	})
	return x
}
