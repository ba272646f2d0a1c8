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

// IndexSelect picks rows along a dimension, by an int64 index.
func (s *Scope) IndexSelect(x *Tensor, dim int, index *Tensor) *Tensor {
	return s.borrow("index_select",
		func() gotorch.Tensor { return gotorch.IndexSelect(x.gotorch(), int64(dim), index.gotorch()) }, x, index)
}

// Detach is x outside the graph of gradients; it shares x's memory.
func (s *Scope) Detach(x *Tensor) *Tensor {
	return s.borrow("detach", func() gotorch.Tensor { t := x.gotorch(); return t.Detach() }, x)
}

// Linear is x times the transposed weight, plus the bias; bias may be nil.
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

// BatchNorm holds a batch normalisation's tensors and settings. Weight and Bias
// may be nil for 1 and 0; Mean and Var may be nil for the batch's own.
type BatchNorm struct {
	Weight, Bias *Tensor
	Mean, Var    *Tensor
	Seen         *Tensor // int64 count of batches, only in programs; may be nil
	Momentum     float64 // share of the new batch; zero keeps Mean and Var
	Eps          float64 // added to the variance; zero adds nothing
}

// maybe returns an optional operand for gotorch.
func (t *Tensor) maybe() gotorch.Tensor {
	if t == nil {
		return gotorch.Tensor{}
	}
	return t.gotorch()
}
