package model

import (
	"strconv"

	"graft/torch"
)

// convSmall outputs logits of either sign, unlike the networks of the original, whose last ReLU can silence classes.
func convSmall(in Shape, classes int) *Container {
	block := func(in, out int) Module {
		conv := NewConv2d(in, out, 3)
		conv.Padding = Both(1)
		layers := sequence(leaves(conv, NewBatchNorm2d(out), Activate(torch.ReLU))...)
		return &Container{Mark: Original, Children: []Child{{"layers", layers}}}
	}
	return chain("ConvSmall",
		Child{"conv1", block(in[0], 16)}, part("pool1", NewMaxPool2d(One(2))),
		Child{"conv2", block(16, 32)}, part("pool2", NewMaxPool2d(One(2))),
		Child{"conv3", block(32, 32)}, part("pool", AdaptiveAvgPool2d{Size: One(1)}), flattened(),
		part("fc", NewLinear(32, classes)))
}

func mlp(in Shape, classes int) *Container {
	c := sequence(leaves(Flatten{},
		NewLinear(in.Count(), 512), Activate(torch.ReLU),
		NewLinear(512, 256), Activate(torch.ReLU),
		NewLinear(256, classes))...)
	c.Class = "MLP"
	return c
}

// The networks for small images of He et al., Deep Residual Learning for Image Recognition (2016), section 4.2. If the
// shape changes, the shortcut is a convolution of one tap (their option B), which is trained with the network.

func cifarResNet20(in Shape, classes int) *Container {
	return cifarResNet("CIFARResNet20", in, 3, classes)
}

func cifarResNet56(in Shape, classes int) *Container {
	return cifarResNet("CIFARResNet56", in, 9, classes)
}

func cifarResNet(class string, in Shape, blocks, classes int) *Container {
	stem := []Child{part("conv1", plainConv(in[0], 16, 3, 1)), part("bn1", NewBatchNorm2d(16)),
		part("relu", inplace(torch.ReLU))}
	return residual(class, stem, []int{16, 32, 64}, blocks, classes)
}

func resNet18(in Shape, classes int) *Container {
	pool := MaxPool2d{Kernel: One(3), Stride: One(2), Padding: One(1)}
	stem := []Child{part("conv1", plainConv(in[0], 64, 7, 2)), part("bn1", NewBatchNorm2d(64)),
		part("relu", inplace(torch.ReLU)), part("maxpool", pool)}
	return residual("ResNet", stem, []int{64, 128, 256, 512}, 2, classes)
}

// residual appends stages of blocks to a stem whose channels equal the first stage's. Each further stage halves the
// image.
func residual(class string, parts []Child, widths []int, blocks, classes int) *Container {
	in, stride := widths[0], 1
	for k, out := range widths {
		stage := sequence(basicBlock(in, out, stride))
		for b := 1; b < blocks; b++ {
			stage.Children = append(stage.Children, Child{strconv.Itoa(b), basicBlock(out, out, 1)})
		}
		parts = append(parts, Child{"layer" + strconv.Itoa(k+1), stage})
		in, stride = out, 2
	}
	return chain(class, append(parts, part("avgpool", AdaptiveAvgPool2d{Size: Both(1)}), flattened(),
		part("fc", NewLinear(in, classes)))...)
}

// basicBlock runs its only ReLU twice, as torchvision's does.
func basicBlock(in, out, stride int) *Container {
	c := chain("BasicBlock",
		part("conv1", plainConv(in, out, 3, stride)), part("bn1", NewBatchNorm2d(out)),
		part("relu", inplace(torch.ReLU)), part("conv2", plainConv(out, out, 3, 1)), part("bn2", NewBatchNorm2d(out)))
	c.Flow = Flow{Join: Sum, Body: []string{"conv1", "bn1", "relu", "conv2", "bn2"}, Then: []string{"relu"}}
	if stride != 1 || in != out {
		c.Children = append(c.Children,
			Child{"downsample", sequence(leaves(plainConv(in, out, 1, stride), NewBatchNorm2d(out))...)})
		c.Flow.Shortcut = []string{"downsample"}
	}
	return c
}

func vgg11BN(in Shape, classes int) *Container {
	const pool = 0
	var features []Layer
	channels := in[0]
	for _, out := range []int{64, pool, 128, pool, 256, 256, pool, 512, 512, pool, 512, 512, pool} {
		if out == pool {
			features = append(features, NewMaxPool2d(One(2)))
			continue
		}
		conv := NewConv2d(channels, out, 3)
		conv.Padding = Both(1)
		features = append(features, conv, NewBatchNorm2d(out), inplace(torch.ReLU))
		channels = out
	}
	return chain("VGG",
		Child{"features", sequence(leaves(features...)...)},
		part("avgpool", AdaptiveAvgPool2d{Size: Both(7)}),
		flattened(),
		Child{"classifier", sequence(leaves(
			NewLinear(channels*7*7, 4096), inplace(torch.ReLU), Dropout{P: 0.5},
			NewLinear(4096, 4096), inplace(torch.ReLU), Dropout{P: 0.5},
			NewLinear(4096, classes))...)})
}

// mobileNetV2 has the stages of Sandler et al., MobileNetV2: Inverted Residuals and Linear Bottlenecks (2018), table 2.
func mobileNetV2(in Shape, classes int) *Container {
	features := sequence(activated(in[0], 32, 3, 2, 1))
	add := func(m Module) {
		features.Children = append(features.Children, Child{strconv.Itoa(len(features.Children)), m})
	}
	channels := 32
	for _, stage := range []struct{ expand, out, blocks, stride int }{
		{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1},
	} {
		for range stage.blocks {
			add(invertedResidual(channels, stage.out, stage.stride, stage.expand))
			channels, stage.stride = stage.out, 1
		}
	}
	add(activated(channels, 1280, 1, 1, 1))
	return chain("MobileNetV2", Child{"features", features}, Child{Name: PoolStep}, flattened(),
		Child{"classifier", sequence(leaves(Dropout{P: 0.2}, NewLinear(1280, classes))...)})
}

// invertedResidual adds its input if the shape stays the same.
func invertedResidual(in, out, stride, expand int) *Container {
	hidden := in * expand
	var modules []Module
	if expand != 1 {
		modules = append(modules, activated(in, hidden, 1, 1, 1))
	}
	modules = append(modules, activated(hidden, hidden, 3, stride, hidden))
	modules = append(modules, leaves(plainConv(hidden, out, 1, 1), NewBatchNorm2d(out))...)
	c := chain("InvertedResidual", Child{"conv", sequence(modules...)})
	if stride == 1 && in == out {
		c.Flow.Join = Sum
	}
	return c
}

// activated makes a convolution with MobileNetV2's normalisation and activation.
func activated(in, out, kernel, stride, groups int) *Container {
	conv := plainConv(in, out, kernel, stride)
	conv.Groups = groups
	c := sequence(leaves(conv, NewBatchNorm2d(out), inplace(torch.ReLU6))...)
	c.Class = "Conv2dNormActivation"
	return c
}

// plainConv makes a convolution that keeps the size of the image, except for its stride. It has no bias, since a
// normalisation follows.
func plainConv(in, out, kernel, stride int) Conv2d {
	conv := NewConv2d(in, out, kernel)
	conv.Stride, conv.Padding, conv.Bias = Both(stride), Both(kernel/2), false
	return conv
}

func inplace(kind torch.Activation) Activation { return Activation{Kind: kind, Inplace: true} }
