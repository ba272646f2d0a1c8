package model

import "graft/torch"

// The networks of the original experiments. Their code flattens without a module,
// and all of them end in a ReLU.

func feedForwardNet(in Shape, classes int) *Container {
	return chain("FeedForwardNet", flattened(), Child{"fc", dense(in.Count(), classes)})
}

func feedForwardNet2(in Shape, classes int) *Container {
	return chain("FeedForwardNet2", flattened(),
		Child{"fc1", dense(in.Count(), 32)},
		Child{"fc2", dense(32, classes)})
}

func feedForwardNet3(in Shape, classes int) *Container {
	return chain("FeedForwardNet3", flattened(),
		Child{"fc1", dense(in.Count(), 32)},
		Child{"fc2", dense(32, 32)},
		Child{"fc3", dense(32, classes)})
}

func convNet(in Shape, classes int) *Container {
	return convolutional("ConvNet", dense(32, classes),
		Child{"conv1", normalized(in[0], 32, 0)},
		Child{"conv2", normalized(32, 32, 0)},
		part("pool1", NewAvgPool2d(Both(2))),
		Child{"conv3", normalized(32, 32, 0)})
}

func convNet2(in Shape, classes int) *Container {
	return convolutional("ConvNet2", dense(32, classes),
		Child{"conv1", normalized(in[0], 32, 0)},
		part("pool1", NewAvgPool2d(Both(2))),
		Child{"conv2", normalized(32, 32, 0)})
}

func convNet3(in Shape, classes int) *Container {
	return convolutional("ConvNet3", dense(32, classes),
		Child{"conv1", normalized(in[0], 64, 0)},
		Child{"conv2", normalized(64, 32, 0)})
}

func largeConvNet(in Shape, classes int) *Container {
	pair := func(in int) Module { return sequence(normalized(in, 32, 0), normalized(32, 32, 1)) }
	return convolutional("LargeConvNet", sequence(dense(32, classes), dense(classes, classes)),
		Child{"conv1", pair(in[0])},
		Child{"conv2", pair(32)},
		part("pool1", NewAvgPool2d(Both(2))),
		Child{"conv3", pair(32)})
}

// batchNormConvolution is known only by its name; its layers are our choice.
func batchNormConvolution(in Shape, classes int) *Container {
	return convolutional("BatchNormConvolution", dense(32, classes), Child{"conv1", normalized(in[0], 32, 0)})
}

// convolutional adds the common end of these networks after their convolutions.
func convolutional(class string, fc Module, parts ...Child) *Container {
	return chain(class, append(parts, part("finalpool", AdaptiveAvgPool2d{Size: Both(1)}), flattened(),
		Child{"fc", fc})...)
}

// normalized is a block with a 3x3 convolution.
func normalized(in, out, padding int) *Container {
	conv := NewConv2d(in, out, 3)
	conv.Padding = Both(padding)
	return originalBlock("NormalizedConvolutionalNet2NetDeepenBlock", conv, NewBatchNorm2d(out), Activate(torch.ReLU))
}

// dense is a block with a linear layer.
func dense(in, out int) *Container {
	return originalBlock("FeedForwardNet2NetDeepenBlock", NewLinear(in, out), Activate(torch.ReLU))
}

func originalBlock(class string, layers ...Layer) *Container {
	block := chain(class, Child{"layers", sequence(leaves(layers...)...)})
	block.Mark = Original
	return block
}
