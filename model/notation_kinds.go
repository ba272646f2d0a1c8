package model

import (
	"fmt"

	"graft/torch"
)

// kinds are the layers with a notation.
var kinds = []kind{
	{"Conv2d", "convolution of images",
		"Conv2d(3, 8, 3, padding=1)", convParameters, buildConv2d},
	{"Linear", "linear layer",
		"Flatten(); Linear(768, 10)", linearParameters, buildLinear},
	{"BatchNorm2d", "batch normalisation of channels of images",
		"BatchNorm2d(3)", batchNormParameters, buildBatchNorm(false)},
	{"BatchNorm1d", "batch normalisation of features",
		"Flatten(); BatchNorm1d(768)", batchNormParameters, buildBatchNorm(true)},
	{"LayerNorm", "layer normalisation",
		"LayerNorm((3, 16, 16))", layerNormParameters, buildLayerNorm},
	{"GroupNorm", "normalisation of groups of channels",
		"GroupNorm(3, 3)", groupNormParameters, buildGroupNorm},
	{"ReLU", "rectified linear unit",
		"ReLU()", inplaceParameter, buildActivation(torch.ReLU)},
	{"ReLU6", "rectified linear unit, at most 6",
		"ReLU6()", inplaceParameter, buildActivation(torch.ReLU6)},
	{"LeakyReLU", "rectified linear unit with a slope below zero",
		"LeakyReLU(0.01)", []parameter{{"negative_slope", anyReal, 0.01}, inplaceParameter[0]},
		buildActivation(torch.LeakyReLU)},
	{"Sigmoid", "logistic function",
		"Sigmoid()", nil, buildActivation(torch.Sigmoid)},
	{"Tanh", "hyperbolic tangent",
		"Tanh()", nil, buildActivation(torch.Tanh)},
	{"GELU", "Gaussian error linear unit",
		"GELU()", []parameter{{"approximate", only("none", "'none'"), true}}, buildActivation(torch.GELU)},
	{"SiLU", "sigmoid linear unit, also called swish",
		"SiLU()", inplaceParameter, buildActivation(torch.SiLU)},
	{"Hardswish", "piecewise approximation of swish",
		"Hardswish()", inplaceParameter, buildActivation(torch.Hardswish)},
	{"ELU", "exponential linear unit",
		"ELU(1.0)", []parameter{{"alpha", anyReal, 1.0}, inplaceParameter[0]}, buildActivation(torch.ELU)},
	{"AvgPool2d", "mean of windows of images",
		"AvgPool2d(2)", avgPoolParameters, buildAvgPool2d},
	{"MaxPool2d", "maximum of windows of images",
		"MaxPool2d(2)", maxPoolParameters, buildMaxPool2d},
	{"AdaptiveAvgPool2d", "mean of windows, for an output of this size",
		"AdaptiveAvgPool2d(1)", []parameter{{"output_size", pair(1), nil}}, buildAdaptiveAvgPool2d},
	{"Flatten", "turns images into vectors",
		"Flatten()", []parameter{{"start_dim", only(1, "1"), true}, {"end_dim", only(-1, "-1"), true}},
		same(Flatten{})},
	{"Dropout", "sets random values to zero in training",
		"Dropout(0.5)", []parameter{{"p", probability, 0.5}, inplaceParameter[0]}, buildDropout},
	{"Identity", "returns its input",
		"Identity()", nil, same(Identity{})},
}

// same builds a layer without effective arguments.
func same(l Layer) func(arguments) (Layer, error) {
	return func(arguments) (Layer, error) { return l, nil }
}

var inplaceParameter = []parameter{{"inplace", flag, false}}

var convParameters = []parameter{
	{"in_channels", whole(1), nil},
	{"out_channels", whole(1), nil},
	{"kernel_size", pair(1), nil},
	{"stride", pair(1), One(1)},
	{"padding", pair(0).or("'same' or 'valid'", "same", "valid"), One(0)},
	{"dilation", pair(1), One(1)},
	{"groups", whole(1), 1},
	{"bias", flag, true},
	{"padding_mode", only("zeros", "'zeros'"), true},
}

func buildConv2d(a arguments) (Layer, error) {
	c := Conv2d{In: a["in_channels"].(int), Out: a["out_channels"].(int), Kernel: a.two("kernel_size"),
		Stride: a.two("stride"), Dilation: a.two("dilation"), Groups: a["groups"].(int), Bias: a["bias"].(bool)}
	switch a["padding"] {
	case "valid":
	case "same":
		h, w := c.Dilation.H*(c.Kernel.H-1), c.Dilation.W*(c.Kernel.W-1)
		if !c.Stride.equal(1, 1) || h%2+w%2 > 0 {
			return nil, fmt.Errorf("Conv2d: padding='same' requires stride 1 and an odd window size, "+
				"got kernel_size %v, stride %v and dilation %v; set the padding to numbers", c.Kernel, c.Stride,
				c.Dilation)
		}
		c.Padding = Pair{H: h / 2, W: w / 2}
		if max(h, w)/2 > largestSize {
			return nil, fmt.Errorf("Conv2d: kernel_size %v and dilation %v are too large for padding='same'", c.Kernel,
				c.Dilation)
		}
	default:
		c.Padding = a.two("padding")
	}
	if c.In%c.Groups != 0 || c.Out%c.Groups != 0 {
		return nil, fmt.Errorf("Conv2d: groups is %d, but must divide both in_channels (%d) and out_channels (%d)",
			c.Groups, c.In, c.Out)
	}
	return c, nil
}

// two makes a pair that PyTorch always prints as two numbers.
func (a arguments) two(name string) Pair {
	p := a[name].(Pair)
	p.Single = false
	return p
}

var linearParameters = []parameter{{"in_features", whole(1), nil}, {"out_features", whole(1), nil},
	{"bias", flag, true}}

func buildLinear(a arguments) (Layer, error) {
	return Linear{In: a["in_features"].(int), Out: a["out_features"].(int), Bias: a["bias"].(bool)}, nil
}

var batchNormParameters = []parameter{
	{"num_features", whole(1), nil},
	{"eps", positive, 1e-5},
	{"momentum", positive, 0.1},
	{"affine", flag, true},
	{"track_running_stats", flag, true},
}

func buildBatchNorm(flat bool) func(arguments) (Layer, error) {
	return func(a arguments) (Layer, error) {
		return BatchNorm{Features: a["num_features"].(int), Flat: flat, Eps: a["eps"].(float64),
			Momentum: a["momentum"].(float64), Affine: a["affine"].(bool), Track: a["track_running_stats"].(bool)}, nil
	}
}

var layerNormParameters = []parameter{
	{"normalized_shape", sizes, nil},
	{"eps", positive, 1e-5},
	{"elementwise_affine", flag, true},
	{"bias", only(true, "True"), true},
}

func buildLayerNorm(a arguments) (Layer, error) {
	return LayerNorm{Sizes: a["normalized_shape"].([]int), Eps: a["eps"].(float64),
		Affine: a["elementwise_affine"].(bool)}, nil
}

var groupNormParameters = []parameter{
	{"num_groups", whole(1), nil},
	{"num_channels", whole(1), nil},
	{"eps", positive, 1e-5},
	{"affine", flag, true},
}

func buildGroupNorm(a arguments) (Layer, error) {
	n := GroupNorm{Groups: a["num_groups"].(int), Features: a["num_channels"].(int), Eps: a["eps"].(float64),
		Affine: a["affine"].(bool)}
	if n.Features%n.Groups != 0 {
		return nil, fmt.Errorf("GroupNorm: num_groups is %d, but must divide num_channels (%d)", n.Groups, n.Features)
	}
	return n, nil
}

func buildActivation(kind torch.Activation) func(arguments) (Layer, error) {
	return func(a arguments) (Layer, error) {
		l := Activation{Kind: kind}
		l.Inplace, _ = a["inplace"].(bool)
		for _, name := range []string{"negative_slope", "alpha"} {
			if v, has := a[name].(float64); has {
				l.Parameter = v
			}
		}
		return l, nil
	}
}

// likeKernel is the default of a stride: the kernel size.
const likeKernel = "like kernel_size"

var avgPoolParameters = []parameter{
	{"kernel_size", pair(1), nil},
	{"stride", pair(1).orNone(likeKernel), likeKernel},
	{"padding", pair(0), One(0)},
	{"ceil_mode", flag, false},
	{"count_include_pad", flag, true},
	{"divisor_override", only(nil, "None"), true},
}

func buildAvgPool2d(a arguments) (Layer, error) {
	return AvgPool2d{Kernel: a["kernel_size"].(Pair), Stride: a.stride(), Padding: a["padding"].(Pair),
		Ceil: a["ceil_mode"].(bool), ExcludePad: !a["count_include_pad"].(bool)}, nil
}

var maxPoolParameters = []parameter{
	{"kernel_size", pair(1), nil},
	{"stride", pair(1).orNone(likeKernel), likeKernel},
	{"padding", pair(0), One(0)},
	{"dilation", only(1, "1"), true},
	{"return_indices", only(false, "False"), true},
	{"ceil_mode", flag, false},
}

func buildMaxPool2d(a arguments) (Layer, error) {
	return MaxPool2d{Kernel: a["kernel_size"].(Pair), Stride: a.stride(), Padding: a["padding"].(Pair),
		Ceil: a["ceil_mode"].(bool)}, nil
}

// stride is the stride of a pool, by default its kernel.
func (a arguments) stride() Pair {
	if p, given := a["stride"].(Pair); given {
		return p
	}
	return a["kernel_size"].(Pair)
}

func buildAdaptiveAvgPool2d(a arguments) (Layer, error) {
	return AdaptiveAvgPool2d{Size: a["output_size"].(Pair)}, nil
}

func buildDropout(a arguments) (Layer, error) {
	return Dropout{P: a["p"].(float64), Inplace: a["inplace"].(bool)}, nil
}
