package torch

// The operators that run once or a few times a step, through gotorch.

import (
	"github.com/wangkuiyi/gotorch"
	"github.com/wangkuiyi/gotorch/nn/functional"
)

// Eq is true where a equals b.
func (s *Scope) Eq(a, b *Tensor) *Tensor {
	return s.borrow("eq", func() gotorch.Tensor { return gotorch.Eq(a.gotorch(), b.gotorch()) }, a, b)
}

// Transpose exchanges two dimensions; the result shares x's memory.
func (s *Scope) Transpose(x *Tensor, a, b int) *Tensor {
	return s.borrow("transpose", func() gotorch.Tensor { return gotorch.Transpose(x.gotorch(), int64(a), int64(b)) }, x)
}

// IndexSelect picks rows along a dimension, by an int64 index.
func (s *Scope) IndexSelect(x *Tensor, dim int, index *Tensor) *Tensor {
	return s.borrow("index_select", func() gotorch.Tensor { return gotorch.IndexSelect(x.gotorch(), int64(dim), index.gotorch()) }, x, index)
}

// Detach is x outside the graph of gradients; it shares x's memory.
func (s *Scope) Detach(x *Tensor) *Tensor {
	return s.borrow("detach", func() gotorch.Tensor { t := x.gotorch(); return t.Detach() }, x)
}

// Flatten joins the dimensions from first to last.
func (s *Scope) Flatten(x *Tensor, first, last int) *Tensor {
	return s.borrow("flatten", func() gotorch.Tensor { return gotorch.Flatten(x.gotorch(), int64(first), int64(last)) }, x)
}

// Linear is x times the transposed weight, plus the bias; bias may be nil.
func (s *Scope) Linear(x, weight, bias *Tensor) *Tensor {
	return s.borrow("linear", func() gotorch.Tensor {
		return functional.Linear(x.gotorch(), weight.gotorch(), bias.maybe())
	}, compact([]*Tensor{x, weight, bias})...)
}

// Window is the window of a convolution or a pool over an image. A Stride, Dilation or Groups
// of zero means 1; in pools a Stride of zero means Kernel.
type Window struct {
	Kernel   int // pixels; of pools only, a convolution takes it from the weight
	Stride   int // pixels
	Padding  int // pixels on each side
	Dilation int // pixels between taps
	Groups   int // of channels, in convolutions
}

func or(value, otherwise int) int64 {
	if value == 0 {
		return int64(otherwise)
	}
	return int64(value)
}

func pair(n int64) []int64 { return []int64{n, n} }

// Conv2D convolves images with weight; bias may be nil.
func (s *Scope) Conv2D(x, weight, bias *Tensor, w Window) *Tensor {
	return s.borrow("conv2d", func() gotorch.Tensor {
		return functional.Conv2d(x.gotorch(), weight.gotorch(), bias.maybe(), pair(or(w.Stride, 1)),
			pair(int64(w.Padding)), pair(or(w.Dilation, 1)), or(w.Groups, 1))
	}, compact([]*Tensor{x, weight, bias})...)
}

// MaxPool2D takes the largest value of each window.
func (s *Scope) MaxPool2D(x *Tensor, w Window) *Tensor {
	return s.borrow("max_pool2d", func() gotorch.Tensor {
		return functional.MaxPool2d(x.gotorch(), pair(int64(w.Kernel)), pair(or(w.Stride, w.Kernel)),
			pair(int64(w.Padding)), pair(or(w.Dilation, 1)), false)
	}, x)
}

// AdaptiveAvgPool2D averages an image down to height by width.
func (s *Scope) AdaptiveAvgPool2D(x *Tensor, height, width int) *Tensor {
	return s.borrow("adaptive_avg_pool2d", func() gotorch.Tensor {
		return functional.AdaptiveAvgPool2d(x.gotorch(), []int64{int64(height), int64(width)})
	}, x)
}

// BatchNorm holds a batch normalisation's tensors and settings. Weight and Bias
// may be nil for 1 and 0; Mean and Var may be nil for the batch's own.
type BatchNorm struct {
	Weight, Bias *Tensor
	Mean, Var    *Tensor
	Seen         *Tensor // int64 count of batches, in programs only; may be nil
	Momentum     float64 // share of the new batch; zero keeps Mean and Var
	Eps          float64 // added to the variance; zero adds nothing
}

// BatchNorm normalises each channel, by the batch when training and by the
// running statistics otherwise. Training updates the running statistics.
func (s *Scope) BatchNorm(x *Tensor, n BatchNorm, training bool) *Tensor {
	return s.borrow("batch_norm", func() gotorch.Tensor {
		return functional.BatchNorm(x.gotorch(), n.Mean.maybe(), n.Var.maybe(), n.Weight.maybe(), n.Bias.maybe(), training, n.Momentum, n.Eps)
	}, compact([]*Tensor{x, n.Weight, n.Bias, n.Mean, n.Var})...)
}

// maybe returns an optional operand for gotorch.
func (t *Tensor) maybe() gotorch.Tensor {
	if t == nil {
		return gotorch.Tensor{}
	}
	return t.gotorch()
}
