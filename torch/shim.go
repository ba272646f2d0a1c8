package torch

// #include "graft.h"
import "C"

// The operators that gotorch lacks.

// AvgPool2D returns the average of each window of x; p describes the windows.
func (s *Scope) AvgPool2D(x *Tensor, p Plane) *Tensor {
	ints := make([]int, 0, 6)
	for _, n := range pool(p)[:6] {
		ints = append(ints, int(n))
	}
	return s.one(C.GRAFT_OP_AVG_POOL2D, "avg_pool2d", arguments{ints: ints}, x)
}

// Softmax returns the softmax along a dimension: positive values with sum 1.
func (s *Scope) Softmax(x *Tensor, dim int) *Tensor {
	return s.one(C.GRAFT_OP_SOFTMAX, "softmax", arguments{ints: []int{dim}}, x)
}

// Embedding returns the rows of weight with the given int64 indices.
func (s *Scope) Embedding(weight, indices *Tensor) *Tensor {
	return s.one(C.GRAFT_OP_EMBEDDING, "embedding", arguments{}, weight, indices)
}

// LSTM describes a long short-term memory layer. Its weights have PyTorch's order: for each layer and direction
// weight_ih, weight_hh, bias_ih, bias_hh. The rows of each tensor belong to the input, forget, cell and output gates,
// in this order.
type LSTM struct {
	Weights       []*Tensor
	Layers        int  // number of layers; zero means 1
	Bidirectional bool // whether a second direction reads the sequence backwards
	// whether inputs have the dimensions batch, time, features; false means time, batch, features
	BatchFirst bool
}

// LSTM runs the layer over x, starting from the states h and c, and returns its output and its final states.
func (s *Scope) LSTM(l LSTM, x, h, c *Tensor) (output, hidden, cell *Tensor) {
	operands := append([]*Tensor{x, h, c}, l.Weights...)
	outs := s.run(C.GRAFT_OP_LSTM, "lstm",
		arguments{ints: []int{int(or(l.Layers, 1)), flag(l.Bidirectional), flag(l.BatchFirst)}}, 3, operands...)
	return outs[0], outs[1], outs[2]
}

// Cat concatenates tensors along a dimension.
func (s *Scope) Cat(dim int, parts ...*Tensor) *Tensor {
	return s.one(C.GRAFT_OP_CAT, "cat", arguments{ints: []int{dim}}, parts...)
}

// CrossEntropy returns the mean cross-entropy loss of logits for int64 labels.
func (s *Scope) CrossEntropy(logits, labels *Tensor) *Tensor {
	return s.one(C.GRAFT_OP_CROSS_ENTROPY, "cross_entropy", arguments{}, logits, labels)
}

// Clone returns a copy with its own memory.
func (s *Scope) Clone(x *Tensor) *Tensor { return s.one(C.GRAFT_OP_CLONE, "clone", arguments{}, x) }

// Copy copies the values of one tensor into another. The destination keeps its memory and type.
func (s *Scope) Copy(to, from *Tensor) { s.run(C.GRAFT_OP_COPY_, "copy", arguments{}, 0, to, from) }

// Fill sets every element of x to one value.
func (s *Scope) Fill(x *Tensor, value float64) {
	s.run(C.GRAFT_OP_FILL_, "fill", arguments{doubles: []float64{value}}, 0, x)
}

// Full creates a tensor with one value in every element.
func (s *Scope) Full(value float64, dtype DType, d Device, shape ...int) *Tensor {
	kind, index := d.code()
	ints := append([]int{int(dtype), int(kind), int(index)}, shape...)
	return s.one(C.GRAFT_OP_FULL, "full", arguments{ints: ints, doubles: []float64{value}})
}

// Zeros creates a tensor of zeros.
func (s *Scope) Zeros(dtype DType, d Device, shape ...int) *Tensor {
	return s.Full(0, dtype, d, shape...)
}

// Reshape changes the shape of x. One size may be -1; it is computed from the number of elements.
func (s *Scope) Reshape(x *Tensor, shape ...int) *Tensor {
	return s.one(C.GRAFT_OP_RESHAPE, "reshape", arguments{ints: shape}, x)
}

// Narrow returns a range of entries of x along a dimension. The range begins at index start and has the given length.
// The result shares x's memory.
func (s *Scope) Narrow(x *Tensor, dim, start, length int) *Tensor {
	return s.one(C.GRAFT_OP_NARROW, "narrow", arguments{ints: []int{dim, start, length}}, x)
}

// Scale returns x * factor + offset.
func (s *Scope) Scale(x *Tensor, factor, offset float64) *Tensor {
	return s.one(C.GRAFT_OP_SCALE, "scale", arguments{doubles: []float64{factor, offset}}, x)
}

// Neg returns -x.
func (s *Scope) Neg(x *Tensor) *Tensor { return s.one(C.GRAFT_OP_NEG, "neg", arguments{}, x) }

// Exp returns e raised to the power of each element.
func (s *Scope) Exp(x *Tensor) *Tensor { return s.one(C.GRAFT_OP_EXP, "exp", arguments{}, x) }

// Log returns the natural logarithm of each element.
func (s *Scope) Log(x *Tensor) *Tensor { return s.one(C.GRAFT_OP_LOG, "log", arguments{}, x) }

// Sqrt returns the square root of each element.
func (s *Scope) Sqrt(x *Tensor) *Tensor { return s.one(C.GRAFT_OP_SQRT, "sqrt", arguments{}, x) }

// MatMul returns the product of two matrices, or of two batches of matrices.
func (s *Scope) MatMul(a, b *Tensor) *Tensor {
	return s.one(C.GRAFT_OP_MATMUL, "matmul", arguments{}, a, b)
}

// To converts x to a type and a device. It returns x itself if nothing changes.
func (s *Scope) To(x *Tensor, dtype DType, d Device) *Tensor {
	kind, index := d.code()
	return s.one(C.GRAFT_OP_TO, "to", arguments{ints: []int{int(dtype), int(kind), int(index)}}, x)
}

// RequireGrad turns the recording of gradients for x on or off, and returns x.
func (s *Scope) RequireGrad(x *Tensor, want bool) *Tensor {
	s.run(C.GRAFT_OP_SET_REQUIRES_GRAD, "requires_grad", arguments{ints: []int{flag(want)}}, 0, x)
	return x
}

// Backward computes the gradients of loss, which must have one value. It adds them to the gradients of the tensors on
// which loss depends.
func (s *Scope) Backward(loss *Tensor) { s.run(C.GRAFT_OP_BACKWARD, "backward", arguments{}, 0, loss) }

// Grad returns the accumulated gradient of x. If x has no gradient, the Info method of the result returns an error.
func (s *Scope) Grad(x *Tensor) *Tensor { return s.one(C.GRAFT_OP_GRAD, "grad", arguments{}, x) }

// SetGrad replaces the gradient of x. A nil grad removes it.
func (s *Scope) SetGrad(x, grad *Tensor) {
	s.run(C.GRAFT_OP_SET_GRAD, "set_grad", arguments{}, 0, x, grad)
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Sources maps each channel of a widened weight to its source channel. If Rows or Columns is nil, the size of that
// dimension does not change. If Scale is nil, the values do not change.
type Sources struct {
	Rows    *Tensor // int64 indices of the source rows (dimension 0)
	Columns *Tensor // int64 indices of the source columns (dimension 1)
	Scale   *Tensor // factor of each row
	// Copies and First determine how the values of a source column are divided among its copies, so that the copies add
	// up exactly to the source. Copies holds the number of copies of each column's source; First holds 1 for the first
	// copy and 0 for the others.
	Copies, First *Tensor
}

// Spread returns a wider copy of the weight x. The parameter from selects, for each row and column of the result, the
// row and column of x that it copies. Spread does not record gradients.
func (s *Scope) Spread(x *Tensor, from Sources) *Tensor {
	return s.one(C.GRAFT_OP_SPREAD, "spread", arguments{}, x, from.Rows, from.Columns, from.Scale, from.Copies,
		from.First)
}

// IndexAdd multiplies y by a factor and adds its slices along a dimension to slices of x, in place: slice k of y is
// added to slice index[k] of x.
func (s *Scope) IndexAdd(x *Tensor, dim int, index, y *Tensor, factor float64) {
	s.run(C.GRAFT_OP_INDEX_ADD_, "index_add", arguments{ints: []int{dim}, doubles: []float64{factor}}, 0, x, index, y)
}

// Dirac writes ones into a weight of zeros so that its layer becomes an identity.
func (s *Scope) Dirac(x *Tensor) { s.run(C.GRAFT_OP_DIRAC_, "dirac", arguments{}, 0, x) }

// Pad adds zeros around the last dimensions. The sizes are the number of zeros before and after the last dimension,
// then before and after the second-to-last dimension, and so on. Negative sizes remove values.
func (s *Scope) Pad(x *Tensor, sizes ...int) *Tensor {
	return s.one(C.GRAFT_OP_PAD, "pad", arguments{ints: sizes}, x)
}
