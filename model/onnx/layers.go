package onnx

import (
	"fmt"
	"math"

	"graft/model"
	"graft/torch"
)

// layer adds a layer on x, given the shape of its result and the names of its tensors, and returns the name of the
// result.
func (e *encoder) layer(l model.Layer, x value, shape model.Shape, w []string) (string, error) {
	in := append([]string{x.name}, w...)
	switch l := l.(type) {
	case model.Conv2d:
		return e.node("Conv", in, attribute{"kernel_shape", both(l.Kernel)}, attribute{"strides", both(l.Stride)},
			attribute{"pads", pads(l.Padding)}, attribute{"dilations", both(l.Dilation)},
			attribute{"group", l.Groups}), nil
	case model.Linear:
		return e.node("Gemm", in, attribute{"transB", 1}), nil
	case model.BatchNorm:
		return e.batchNorm(l, x, w)
	case model.LayerNorm:
		if !l.Affine {
			in = append(in, e.floats(ones(x.shape.Count()), x.shape...))
		}
		return e.node("LayerNormalization", in, attribute{"axis", 1}, attribute{"epsilon", l.Eps}), nil
	case model.GroupNorm:
		return e.groupNorm(l, x, w), nil
	case model.Activation:
		return e.activation(l, x.name)
	case model.AvgPool2d:
		return e.averagePool(l, x, shape), nil
	case model.MaxPool2d:
		return e.maxPool(l, x, shape), nil
	case model.AdaptiveAvgPool2d:
		return e.adaptivePool(x, shape), nil
	case model.Flatten:
		return e.node("Flatten", in, attribute{"axis", 1}), nil
	case model.Dropout, model.Identity:
		return x.name, nil
	}
	return "", fmt.Errorf("ONNX has no operator for %s", l)
}

func both(p model.Pair) []int { return []int{p.H, p.W} }

func pads(p model.Pair) []int { return []int{p.H, p.W, p.H, p.W} }

// reaching is the padding of a pool, enlarged at the far edges for windows that extend beyond them in ceil mode:
// readers interpret ONNX's own ceil_mode differently.
func reaching(in, out model.Shape, kernel, stride, padding model.Pair) []int {
	over := func(in, out, kernel, stride, padding int) int {
		return padding + max(0, (out-1)*stride+kernel-in-2*padding)
	}
	return []int{padding.H, padding.W, over(in[1], out[1], kernel.H, stride.H, padding.H),
		over(in[2], out[2], kernel.W, stride.W, padding.W)}
}

func ones(n int) []float64 {
	values := make([]float64, n)
	for k := range values {
		values[k] = 1
	}
	return values
}

func (e *encoder) batchNorm(l model.BatchNorm, x value, w []string) (string, error) {
	if !l.Track {
		return "", fmt.Errorf("%s uses batch statistics even in eval mode; ONNX has no operator for this", l)
	}
	if !l.Affine {
		w = append([]string{e.floats(ones(l.Features), l.Features), e.floats(make([]float64, l.Features), l.Features)},
			w...)
	}
	return e.node("BatchNormalization", append([]string{x.name}, w...), attribute{"epsilon", l.Eps}), nil
}

// groupNorm normalises groups as the channels of an instance normalization.
func (g *graph) groupNorm(l model.GroupNorm, x value, w []string) string {
	grouped := g.node("Reshape", []string{x.name, g.shape(0, l.Groups, -1)})
	scale, shift := g.floats(ones(l.Groups), l.Groups), g.floats(make([]float64, l.Groups), l.Groups)
	normal := g.node("InstanceNormalization", []string{grouped, scale, shift}, attribute{"epsilon", l.Eps})
	y := g.node("Reshape", []string{normal, g.shape(append([]int{-1}, x.shape...)...)})
	if !l.Affine {
		return y
	}
	beside := make([]int, len(x.shape)) // one value per channel
	for k := range beside {
		beside[k] = 1
	}
	beside[0] = l.Features
	y = g.node("Mul", []string{y, g.node("Reshape", []string{w[0], g.shape(beside...)})})
	return g.node("Add", []string{y, g.node("Reshape", []string{w[1], g.shape(beside...)})})
}

func (g *graph) activation(a model.Activation, x string) (string, error) {
	constant := func(v float64) string { return g.floats([]float64{v}) }
	switch a.Kind {
	case torch.ReLU:
		return g.node("Relu", []string{x}), nil
	case torch.ReLU6:
		return g.node("Clip", []string{x, constant(0), constant(6)}), nil
	case torch.LeakyReLU:
		return g.node("LeakyRelu", []string{x}, attribute{"alpha", a.Parameter}), nil
	case torch.Sigmoid:
		return g.node("Sigmoid", []string{x}), nil
	case torch.Tanh:
		return g.node("Tanh", []string{x}), nil
	case torch.ELU:
		return g.node("Elu", []string{x}, attribute{"alpha", a.Parameter}), nil
	case torch.SiLU:
		return g.node("Mul", []string{x, g.node("Sigmoid", []string{x})}), nil
	case torch.Hardswish:
		return g.node("HardSwish", []string{x}), nil
	case torch.GELU: // x/2 (1 + erf(x/sqrt 2))
		erf := g.node("Erf", []string{g.node("Mul", []string{x, constant(math.Sqrt(0.5))})})
		half := g.node("Mul", []string{x, constant(0.5)})
		return g.node("Mul", []string{half, g.node("Add", []string{erf, constant(1)})}), nil
	}
	return "", fmt.Errorf("ONNX has no operator for %s", a)
}

func (g *graph) maxPool(l model.MaxPool2d, x value, shape model.Shape) string {
	return g.node("MaxPool", []string{x.name}, attribute{"kernel_shape", both(l.Kernel)}, attribute{"strides",
		both(l.Stride)}, attribute{"pads", reaching(x.shape, shape, l.Kernel, l.Stride, l.Padding)})
}

// averagePool pools in ceil mode by two products, so windows at the edges count values as in PyTorch.
func (g *graph) averagePool(l model.AvgPool2d, x value, shape model.Shape) string {
	if !l.Ceil {
		counted := map[bool]int{true: 0, false: 1}[l.ExcludePad]
		return g.node("AveragePool", []string{x.name}, attribute{"kernel_shape", both(l.Kernel)}, attribute{"strides",
			both(l.Stride)}, attribute{"pads", pads(l.Padding)}, attribute{"count_include_pad", counted})
	}
	window := func(kernel, stride, padding int) func(at, size int) (from, to, count int) {
		return func(at, size int) (from, to, count int) {
			start := at*stride - padding
			end := min(start+kernel, size+padding)
			count = end - start
			from, to = max(0, start), min(end, size)
			if l.ExcludePad {
				count = to - from
			}
			return from, to, count
		}
	}
	return g.products(x, shape, window(l.Kernel.H, l.Stride.H, l.Padding.H),
		window(l.Kernel.W, l.Stride.W, l.Padding.W))
}

// adaptivePool averages the windows of PyTorch's AdaptiveAvgPool2d.
func (g *graph) adaptivePool(x value, shape model.Shape) string {
	if shape[1] == 1 && shape[2] == 1 {
		return g.node("GlobalAveragePool", []string{x.name})
	}
	window := func(cells int) func(at, size int) (from, to, count int) {
		return func(at, size int) (from, to, count int) {
			from, to = at*size/cells, ((at+1)*size+cells-1)/cells
			return from, to, to - from
		}
	}
	return g.products(x, shape, window(shape[1]), window(shape[2]))
}

// products averages over windows of rows and of columns: a matrix from the left and one from the right.
func (g *graph) products(x value, shape model.Shape, rows, columns func(at, size int) (from, to, count int)) string {
	averages := func(cells, size int, window func(at, size int) (from, to, count int), transposed bool) []float64 {
		values := make([]float64, cells*size)
		for at := range cells {
			from, to, count := window(at, size)
			for k := from; k < to; k++ {
				if transposed {
					values[k*cells+at] = 1 / float64(count)
				} else {
					values[at*size+k] = 1 / float64(count)
				}
			}
		}
		return values
	}
	left := g.floats(averages(shape[1], x.shape[1], rows, false), shape[1], x.shape[1])
	right := g.floats(averages(shape[2], x.shape[2], columns, true), x.shape[2], shape[2])
	return g.node("MatMul", []string{g.node("MatMul", []string{left, x.name}), right})
}
