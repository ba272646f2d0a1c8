package vision

import (
	"fmt"

	"graft/model/graph"
)

// ConvNeXt describes a network of depthwise convolutions and feed-forward layers (Liu et al., A ConvNet for the 2020s,
// 2022), without stochastic depth, like timm's network with default options.
type ConvNeXt struct {
	Patch          int // height and width of a patch of the stem in pixels
	Widths, Depths []int
}

// Graph builds the network for images of [channels, height, width]. The modules have the same names as in timm.
func (c ConvNeXt) Graph(input []int, classes int) (*graph.Graph, error) {
	return build("ConvNeXt", input, c.Patch, func(b *builder, x graph.Value) graph.Value {
		b.Module("stem", "Sequential", func() {
			x = b.conv("0", x, convolution{out: c.Widths[0], in: input[0], kernel: c.Patch, stride: c.Patch,
				patches: true, bias: true})
			x = b.channelNorm("1", x, c.Widths[0])
		})
		b.list("stages", len(c.Widths), "ConvNeXtStage", func(k int) {
			if k > 0 {
				b.Module("downsample", "Sequential", func() {
					x = b.channelNorm("0", x, c.Widths[k-1])
					x = b.conv("1", x, convolution{out: c.Widths[k], in: c.Widths[k-1], kernel: 2, stride: 2,
						patches: true, bias: true})
				})
			}
			b.list("blocks", c.Depths[k], "ConvNeXtBlock", func(int) { x = b.convNeXtBlock(x, c.Widths[k]) })
		})
		last := c.Widths[len(c.Widths)-1]
		b.Module("head", "Head", func() {
			x = b.layerNorm("norm", b.Call("mean.dim", "self", x, "dim", []int{2, 3}), last)
			x = b.linear("fc", x, classes, last)
		})
		return x
	})
}

// channelNorm normalises the channels of each place.
func (b *builder) channelNorm(name string, x graph.Value, channels int) graph.Value {
	x = b.Call("permute.default", "self", x, "dims", []int{0, 2, 3, 1})
	return b.Call("permute.default", "self", b.layerNorm(name, x, channels), "dims", []int{0, 3, 1, 2})
}

func (b *builder) convNeXtBlock(x graph.Value, width int) graph.Value {
	y := b.conv("conv_dw", x, convolution{out: width, in: width, kernel: 7, stride: 1, groups: width, bias: true})
	y = b.layerNorm("norm", b.Call("permute.default", "self", y, "dims", []int{0, 2, 3, 1}), width)
	y = b.Call("mul.Tensor", "self", b.mlp("mlp", y, width, 4*width), "other", b.Parameter("gamma", "full 1e-6", width))
	return b.add(b.Call("permute.default", "self", y, "dims", []int{0, 3, 1, 2}), x)
}

// EfficientNet describes a network of inverted residual blocks with squeeze and excitation (Tan and Le 2019). The stem
// has a stride of Stride pixels.
type EfficientNet struct {
	Stride int
	Stem   int // number of channels of the stem
	Stages []Stage
	Last   int     // number of channels before the linear layer
	Drop   float64 // probability of the dropout before the linear layer
	// stochastic depth: the probability that a block's branch is dropped for an example is Path times the fraction of
	// the network's blocks that precede this block
	Path float64
}

// Stage describes a run of consecutive blocks. Only the first block applies the stride and changes the number of
// channels.
type Stage struct{ Expand, Kernel, Stride, Channels, Blocks int }

// B0 returns the stages of EfficientNet-B0.
func B0() []Stage {
	return []Stage{{1, 3, 1, 16, 1}, {6, 3, 2, 24, 2}, {6, 5, 2, 40, 2}, {6, 3, 2, 80, 3}, {6, 5, 1, 112, 3},
		{6, 5, 2, 192, 4}, {6, 3, 1, 320, 1}}
}

// Graph builds the network for images of [channels, height, width]. The modules have the same names as in torchvision.
func (e EfficientNet) Graph(input []int, classes int) (*graph.Graph, error) {
	return build("EfficientNet", input, 1, func(b *builder, x graph.Value) graph.Value {
		in, blocks, before := e.Stem, 0, 0
		for _, s := range e.Stages {
			blocks += s.Blocks
		}
		b.Module("features", "Sequential", func() {
			x = b.convNormAct("0", x, convolution{out: in, in: input[0], kernel: 3, stride: e.Stride})
			for k, s := range e.Stages {
				b.Module(fmt.Sprint(k+1), "Sequential", func() {
					for j := range s.Blocks {
						stride := s.Stride
						if j > 0 {
							stride = 1
						}
						b.Module(fmt.Sprint(j), "MBConv",
							func() { x = b.inverted(x, in, s, stride, e.Path*float64(before)/float64(blocks)) })
						in, before = s.Channels, before+1
					}
				})
			}
			x = b.convNormAct(fmt.Sprint(len(e.Stages)+1), x, convolution{out: e.Last, in: in, kernel: 1, stride: 1})
		})
		x = b.Call("mean.dim", "self", x, "dim", []int{2, 3})
		b.Module("classifier", "Sequential", func() {
			b.Module("0", "Dropout", func() { x = b.Call("dropout.default", "input", x, "p", e.Drop) })
			x = b.linear("1", x, classes, e.Last)
		})
		return x
	})
}

func (b *builder) convNormAct(name string, x graph.Value, c convolution) graph.Value {
	b.Module(name, "Conv2dNormActivation", func() {
		x = b.batchNorm("1", b.conv("0", x, c), c.out)
		b.Module("2", "SiLU", func() { x = b.Call("silu.default", "self", x) })
	})
	return x
}

// inverted widens, filters each channel, weighs the channels, and narrows again.
func (b *builder) inverted(x graph.Value, in int, s Stage, stride int, drop float64) graph.Value {
	wide, y, next := s.Expand*in, x, 0
	b.Module("block", "Sequential", func() {
		name := func() string { next++; return fmt.Sprint(next - 1) }
		if s.Expand > 1 {
			y = b.convNormAct(name(), y, convolution{out: wide, in: in, kernel: 1, stride: 1})
		}
		y = b.convNormAct(name(), y, convolution{out: wide, in: wide, kernel: s.Kernel, stride: stride, groups: wide})
		b.Module(name(), "SqueezeExcitation", func() { y = b.excitation(y, wide, max(1, in/4)) })
		b.Module(name(), "Conv2dNormActivation", func() {
			y = b.batchNorm("1", b.conv("0", y, convolution{out: s.Channels, in: wide, kernel: 1, stride: 1}),
				s.Channels)
		})
	})
	if in == s.Channels && stride == 1 {
		return b.add(b.StochasticDepth("stochastic_depth", y, drop), x)
	}
	return y
}

func (b *builder) excitation(x graph.Value, channels, squeezed int) graph.Value {
	y := b.Call("mean.dim", "self", x, "dim", []int{2, 3}, "keepdim", true)
	y = b.Call("silu.default", "self",
		b.conv("fc1", y, convolution{out: squeezed, in: channels, kernel: 1, stride: 1, bias: true}))
	y = b.conv("fc2", y, convolution{out: channels, in: squeezed, kernel: 1, stride: 1, bias: true})
	return b.Call("mul.Tensor", "self", b.Call("sigmoid.default", "self", y), "other", x)
}
