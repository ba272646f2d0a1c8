package model

import (
	"errors"
	"fmt"
	"strings"

	"graft/torch"
)

// AvgPool2d averages the values in each window.
type AvgPool2d struct {
	passes
	Kernel, Stride, Padding Pair
	Ceil                    bool // the last window may extend beyond the edge
	ExcludePad              bool // excludes the padding from the average
}

// NewAvgPool2d creates an average-pooling layer whose windows do not overlap: the stride equals the kernel size.
func NewAvgPool2d(kernel Pair) AvgPool2d {
	return AvgPool2d{Kernel: kernel, Stride: kernel, Padding: One(0)}
}

// String returns the layer as PyTorch prints it, without ceil_mode and count_include_pad.
func (p AvgPool2d) String() string {
	return fmt.Sprintf("AvgPool2d(kernel_size=%v, stride=%v, padding=%v)", p.Kernel, p.Stride, p.Padding)
}

// Notation formats the layer as String does, but with all arguments.
func (p AvgPool2d) Notation() string {
	text := strings.TrimSuffix(p.String(), ")")
	if p.Ceil {
		text += ", ceil_mode=True"
	}
	if p.ExcludePad {
		text += ", count_include_pad=False"
	}
	return text + ")"
}

// Infer returns the output shape of the pooling layer.
func (p AvgPool2d) Infer(in Shape) (Shape, error) { return inferPool(p, in, p.plane()) }

// Operations counts one operation for each value in each window.
func (p AvgPool2d) Operations(_, out Shape) int64 {
	return int64(out.Count()) * int64(p.Kernel.H*p.Kernel.W)
}

func (p AvgPool2d) plane() torch.Plane {
	return torch.Plane{Kernel: p.Kernel.ints(), Stride: p.Stride.ints(), Padding: p.Padding.ints(), Ceil: p.Ceil,
		ExcludePad: p.ExcludePad}
}

// Emit adds an instruction for the average pooling to a program.
func (p AvgPool2d) Emit(b *torch.Builder, x torch.Value, _ []*torch.Tensor) torch.Value {
	return b.AvgPool2D(x, p.plane())
}

// MaxPool2d takes the maximum of each window.
type MaxPool2d struct {
	passes
	Kernel, Stride, Padding Pair
	Ceil                    bool // the last window may extend beyond the edge
}

// NewMaxPool2d creates a max-pooling layer whose windows do not overlap: the stride equals the kernel size.
func NewMaxPool2d(kernel Pair) MaxPool2d {
	return MaxPool2d{Kernel: kernel, Stride: kernel, Padding: One(0)}
}

// String returns the layer as PyTorch prints it.
func (p MaxPool2d) String() string {
	return fmt.Sprintf("MaxPool2d(kernel_size=%v, stride=%v, padding=%v, dilation=1, ceil_mode=%s)", p.Kernel, p.Stride,
		p.Padding, python(p.Ceil))
}

// Infer returns the output shape of the pooling layer.
func (p MaxPool2d) Infer(in Shape) (Shape, error) { return inferPool(p, in, p.plane()) }

// Operations counts one operation for each value in each window.
func (p MaxPool2d) Operations(_, out Shape) int64 {
	return int64(out.Count()) * int64(p.Kernel.H*p.Kernel.W)
}

func (p MaxPool2d) plane() torch.Plane {
	return torch.Plane{Kernel: p.Kernel.ints(), Stride: p.Stride.ints(), Padding: p.Padding.ints(), Ceil: p.Ceil}
}

// Emit adds an instruction for the max pooling to a program.
func (p MaxPool2d) Emit(b *torch.Builder, x torch.Value, _ []*torch.Tensor) torch.Value {
	return b.MaxPool2D(x, p.plane())
}

func inferPool(l Layer, in Shape, p torch.Plane) (Shape, error) {
	if err := image(l, in, 0); err != nil {
		return nil, err
	}
	out := Shape{in[0], 0, 0}
	for d := range 2 {
		if p.Kernel[d] < 1 || p.Stride[d] < 1 || p.Padding[d] < 0 {
			return nil, errors.New("kernel and stride of a pooling layer must be at least 1, and padding at least 0")
		}
		if 2*p.Padding[d] > p.Kernel[d] {
			return nil, fmt.Errorf("%s: the padding must be at most half the kernel size", l)
		}
		if out[d+1] = slide(in[d+1], p.Kernel[d], p.Stride[d], p.Padding[d], 1, p.Ceil); out[d+1] < 1 {
			return nil, fmt.Errorf("the window of %s is larger than its %dx%d input", l, in[1], in[2])
		}
	}
	return out, nil
}

// AdaptiveAvgPool2d divides an image into a fixed number of regions and averages each region.
type AdaptiveAvgPool2d struct {
	passes
	Size Pair
}

// String returns the layer as PyTorch prints it.
func (p AdaptiveAvgPool2d) String() string {
	return fmt.Sprintf("AdaptiveAvgPool2d(output_size=%v)", p.Size)
}

// Infer returns the output shape, whose height and width are always Size.
func (p AdaptiveAvgPool2d) Infer(in Shape) (Shape, error) {
	if err := image(p, in, 0); err != nil {
		return nil, err
	}
	if p.Size.H < 1 || p.Size.W < 1 {
		return nil, errors.New("the output of AdaptiveAvgPool2d must be at least 1x1")
	}
	return Shape{in[0], p.Size.H, p.Size.W}, nil
}

// Operations counts one operation per input value.
func (p AdaptiveAvgPool2d) Operations(in, _ Shape) int64 { return int64(in.Count()) }

// Emit adds an instruction for the average pooling to a program.
func (p AdaptiveAvgPool2d) Emit(b *torch.Builder, x torch.Value, _ []*torch.Tensor) torch.Value {
	return b.AdaptiveAvgPool2D(x, p.Size.H, p.Size.W)
}
