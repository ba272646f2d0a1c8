package torch

// The operators that run once or a few times per step, through gotorch.

import (
	"github.com/wangkuiyi/gotorch"
	"github.com/wangkuiyi/gotorch/nn/functional"
)

// Transpose exchanges two dimensions; the result shares x's memory.
func (s *Scope) Transpose(x *Tensor, a, b int) *Tensor {
	return s.borrow("transpose", func() gotorch.Tensor { return gotorch.Transpose(x.gotorch(), int64(a), int64(b)) }, x)
}

// IndexSelect selects the entries of x along a dimension, given their int64 indices.
func (s *Scope) IndexSelect(x *Tensor, dim int, index *Tensor) *Tensor {
	return s.borrow("index_select",
		func() gotorch.Tensor { return gotorch.IndexSelect(x.gotorch(), int64(dim), index.gotorch()) }, x, index)
}

// Detach returns x detached from the autograd graph. The result shares x's memory.
func (s *Scope) Detach(x *Tensor) *Tensor {
	return s.borrow("detach", func() gotorch.Tensor { t := x.gotorch(); return t.Detach() }, x)
}

// Linear returns x times the transposed weight, plus the bias. A nil bias adds nothing.
func (s *Scope) Linear(x, weight, bias *Tensor) *Tensor {
	return s.borrow("linear", func() gotorch.Tensor {
		return functional.Linear(x.gotorch(), weight.gotorch(), bias.maybe())
	}, compact([]*Tensor{x, weight, bias})...)
}

func or(value, otherwise int) int64 {
	if value == 0 {
		return int64(otherwise)
	}
	return int64(value)
}

// BatchNorm holds the tensors and settings of a batch normalisation layer. A nil Weight means 1, and a nil Bias means
// 0. If Mean and Var are nil, the statistics of the batch are used.
type BatchNorm struct {
	Weight, Bias *Tensor
	Mean, Var    *Tensor
	Seen         *Tensor // int64 counter of batches, used only in programs; nil counts nothing
	Momentum     float64 // share of the new batch in Mean and Var; zero keeps them unchanged
	Eps          float64 // constant added to the variance; zero adds nothing
}

// maybe returns an optional operand for gotorch.
func (t *Tensor) maybe() gotorch.Tensor {
	if t == nil {
		return gotorch.Tensor{}
	}
	return t.gotorch()
}
