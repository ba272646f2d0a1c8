package onnx

import (
	"fmt"
	"math"

	"graft/model"
	"graft/torch"
)

// layer adds a layer on x, whose result has a shape, with the names of its tensors, and returns
// the name of the result.
func (e *encoder) layer(l model.Layer, x value, shape model.Shape, w []string) (string, error) {
	in := append([]string{x.name}, w...)
	switch l := l.(type) {
	case model.Conv2d:
		return e.node("Conv", in, attribute{"kernel_shape", both(l.Kernel)}, attribute{"strides", both(l.Stride)},
			attribute{"pads", pads(l.Padding)}, attribute{"dilations", both(l.Dilation)}, attribute{"group", l.Groups}), nil
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
		if l.Ceil {
			return e.averagePool(l, x, shape), nil
		}
		counted := map[bool]int{true: 0, false: 1}[l.ExcludePad]
		return e.node("AveragePool", in, attribute{"kernel_shape", both(l.Kernel)}, attribute{"strides", both(l.Stride)},
			attribute{"pads", pads(l.Padding)}, attribute{"count_include_pad", counted}), nil
	case model.MaxPool2d:
		return e.node("MaxPool", in, attribute{"kernel_shape", both(l.Kernel)}, attribute{"strides", both(l.Stride)},
			attribute{"pads", reaching(x.shape, shape, l.Kernel, l.Stride, l.Padding)}), nil
	case model.AdaptiveAvgPool2d:
		if l.Size.H == 1 && l.Size.W == 1 {
			return e.node("GlobalAveragePool", in), nil
		}
		return e.adaptivePool(x, shape), nil
	case model.Flatten:
		return e.node("Flatten", in, attribute{"axis", 1}), nil
	case model.Dropout, model.Identity:
		return x.name, nil
	}
	return "", fmt.Errorf("there is no ONNX operator for %s", l)
}

func both(p model.Pair) []int { return []int{p.H, p.W} }

func pads(p model.Pair) []int { return []int{p.H, p.W, p.H, p.W} }

// reaching is the padding of a pool, enlarged at the far edges by what windows reach over
// there in ceil mode: readers differ in what they make of ONNX's own ceil_mode.
func reaching(in, out model.Shape, kernel, stride, padding model.Pair) []int {
	over := func(in, out, kernel, stride, padding int) int {
		return padding + max(0, (out-1)*stride+kernel-in-2*padding)
	}
	return []int{padding.H, padding.W, over(in[1], out[1], kernel.H, stride.H, padding.H), over(in[2], out[2], kernel.W, stride.W, padding.W)}
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
		return "", fmt.Errorf("%s normalises by the batch in eval mode too, which ONNX has no operator for", l)
	}
	if !l.Affine {
		w = append([]string{e.floats(ones(l.Features), l.Features), e.floats(make([]float64, l.Features), l.Features)}, w...)
	}
	return e.node("BatchNormalization", append([]string{x.name}, w...), attribute{"epsilon", l.Eps}), nil
}

// groupNorm normalises groups as the channels of an instance normalization.
func (e *encoder) groupNorm(l model.GroupNorm, x value, w []string) string {
	grouped := e.node("Reshape", []string{x.name, e.shape(0, l.Groups, -1)})
	scale, shift := e.floats(ones(l.Groups), l.Groups), e.floats(make([]float64, l.Groups), l.Groups)
	normal := e.node("InstanceNormalization", []string{grouped, scale, shift}, attribute{"epsilon", l.Eps})
	y := e.node("Reshape", []string{normal, e.shape(append([]int{-1}, x.shape...)...)})
	if !l.Affine {
		return y
	}
	beside := make([]int, len(x.shape)) // a value for each channel
	for k := range beside {
		beside[k] = 1
	}
	beside[0] = l.Features
	y = e.node("Mul", []string{y, e.node("Reshape", []string{w[0], e.shape(beside...)})})
	return e.node("Add", []string{y, e.node("Reshape", []string{w[1], e.shape(beside...)})})
}

func (e *encoder) activation(a model.Activation, x string) (string, error) {
	constant := func(v float64) string { return e.floats([]float64{v}) }
	switch a.Kind {
	case torch.ReLU:
		return e.node("Relu", []string{x}), nil
	case torch.ReLU6:
		return e.node("Clip", []string{x, constant(0), constant(6)}), nil
	case torch.LeakyReLU:
		return e.node("LeakyRelu", []string{x}, attribute{"alpha", a.Parameter}), nil
	case torch.Sigmoid:
		return e.node("Sigmoid", []string{x}), nil
	case torch.Tanh:
		return e.node("Tanh", []string{x}), nil
	case torch.ELU:
		return e.node("Elu", []string{x}, attribute{"alpha", a.Parameter}), nil
	case torch.SiLU:
		return e.node("Mul", []string{x, e.node("Sigmoid", []string{x})}), nil
	case torch.Hardswish:
		return e.node("HardSwish", []string{x}), nil
	case torch.GELU: // x/2 (1 + erf(x/sqrt 2))
		erf := e.node("Erf", []string{e.node("Mul", []string{x, constant(math.Sqrt(0.5))})})
		half := e.node("Mul", []string{x, constant(0.5)})
		return e.node("Mul", []string{half, e.node("Add", []string{erf, constant(1)})}), nil
	}
	return "", fmt.Errorf("there is no ONNX operator for %s", a)
}

// averagePool pools in ceil mode by two products, so that what counts at the edges is
// PyTorch's.
func (e *encoder) averagePool(l model.AvgPool2d, x value, shape model.Shape) string {
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
	return e.products(x, shape, window(l.Kernel.H, l.Stride.H, l.Padding.H), window(l.Kernel.W, l.Stride.W, l.Padding.W))
}

// adaptivePool averages the windows that PyTorch's AdaptiveAvgPool2d has.
func (e *encoder) adaptivePool(x value, shape model.Shape) string {
	window := func(cells int) func(at, size int) (from, to, count int) {
		return func(at, size int) (from, to, count int) {
			from, to = at*size/cells, ((at+1)*size+cells-1)/cells
			return from, to, to - from
		}
	}
	return e.products(x, shape, window(shape[1]), window(shape[2]))
}

// products averages over windows of rows and of columns: a matrix from the left and one from
// the right.
func (e *encoder) products(x value, shape model.Shape, rows, columns func(at, size int) (from, to, count int)) string {
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
	left := e.floats(averages(shape[1], x.shape[1], rows, false), shape[1], x.shape[1])
	right := e.floats(averages(shape[2], x.shape[2], columns, true), x.shape[2], shape[2])
	return e.node("MatMul", []string{e.node("MatMul", []string{left, x.name}), right})
}
