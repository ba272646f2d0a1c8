package torch

// #include "graft.h"
//
// // gotorch's C half. A result is written to the last argument.
// char *Add(graft_t a, graft_t b, float scale, graft_t *out);
// char *Sub(graft_t a, graft_t b, float scale, graft_t *out);
// char *Mul(graft_t a, graft_t b, graft_t *out);
// char *Div(graft_t a, graft_t b, graft_t *out);
// char *MM(graft_t a, graft_t b, graft_t *out);
// char *Relu(graft_t a, graft_t *out);
// char *Sigmoid(graft_t a, graft_t *out);
// char *Tanh(graft_t a, graft_t *out);
// char *LogSoftmax(graft_t a, int64_t dim, graft_t *out);
// void FreeString(const char *text);
import "C"

// The operators of small networks. They call gotorch's C half directly: its Go half sets a finalizer and calls C twice
// per result, a quarter of the time of a small operator.

// direct makes the scope own the result that call writes, or notes gotorch's message. A call
// takes the result's address itself: cgo then checks only the handle, not the adjacent tensors.
func (s *Scope) direct(op string, call func(t *Tensor) *C.char, operands ...*Tensor) *Tensor {
	if !s.ready(op, operands) {
		return &Tensor{}
	}
	t := s.next()
	message := call(t)
	if message == nil {
		s.own(t)
		return t
	}
	text := C.GoString(message)
	C.FreeString(message)
	return s.fail(newError(op, text, operands...))
}

func (t *Tensor) c() C.graft_t { return C.graft_t(t.handle) }

// Add returns a + b, element by element; shapes are broadcast by PyTorch's rules.
func (s *Scope) Add(a, b *Tensor) *Tensor {
	return s.direct("add", func(t *Tensor) *C.char { return C.Add(a.c(), b.c(), 1, (*C.graft_t)(&t.handle)) }, a, b)
}

// Sub returns a - b, element by element; shapes are broadcast by PyTorch's rules.
func (s *Scope) Sub(a, b *Tensor) *Tensor {
	return s.direct("sub", func(t *Tensor) *C.char { return C.Sub(a.c(), b.c(), 1, (*C.graft_t)(&t.handle)) }, a, b)
}

// Mul returns a * b, element by element; shapes are broadcast by PyTorch's rules.
func (s *Scope) Mul(a, b *Tensor) *Tensor {
	return s.direct("mul", func(t *Tensor) *C.char { return C.Mul(a.c(), b.c(), (*C.graft_t)(&t.handle)) }, a, b)
}

// Div returns a / b, element by element; shapes are broadcast by PyTorch's rules.
func (s *Scope) Div(a, b *Tensor) *Tensor {
	return s.direct("div", func(t *Tensor) *C.char { return C.Div(a.c(), b.c(), (*C.graft_t)(&t.handle)) }, a, b)
}

// MM returns the product of two matrices.
func (s *Scope) MM(a, b *Tensor) *Tensor {
	return s.direct("mm", func(t *Tensor) *C.char { return C.MM(a.c(), b.c(), (*C.graft_t)(&t.handle)) }, a, b)
}

// ReLU returns max(x, 0) for each element.
func (s *Scope) ReLU(x *Tensor) *Tensor {
	return s.direct("relu", func(t *Tensor) *C.char { return C.Relu(x.c(), (*C.graft_t)(&t.handle)) }, x)
}

// Sigmoid returns 1 / (1 + exp(-x)) for each element.
func (s *Scope) Sigmoid(x *Tensor) *Tensor {
	return s.direct("sigmoid", func(t *Tensor) *C.char { return C.Sigmoid(x.c(), (*C.graft_t)(&t.handle)) }, x)
}

// Tanh returns the hyperbolic tangent of each element.
func (s *Scope) Tanh(x *Tensor) *Tensor {
	return s.direct("tanh", func(t *Tensor) *C.char { return C.Tanh(x.c(), (*C.graft_t)(&t.handle)) }, x)
}

// LogSoftmax returns the logarithm of the softmax along a dimension.
func (s *Scope) LogSoftmax(x *Tensor, dim int) *Tensor {
	return s.direct("log_softmax",
		func(t *Tensor) *C.char { return C.LogSoftmax(x.c(), C.int64_t(dim), (*C.graft_t)(&t.handle)) }, x)
}

// Sum returns the sum of all elements. The result does not depend on the number of threads.
func (s *Scope) Sum(x *Tensor) *Tensor {
	return s.one(C.GRAFT_OP_SUM, "sum", arguments{}, x)
}

// SVD returns the reduced singular value decomposition of a matrix: the left singular vectors as columns, the singular
// values in descending order, and the right singular vectors as rows.
func (s *Scope) SVD(x *Tensor) (left, values, right *Tensor) {
	outs := s.run(C.GRAFT_OP_SVD, "svd", arguments{}, 3, x)
	return outs[0], outs[1], outs[2]
}

// Eigen returns the eigenvalues of a symmetric matrix in ascending order, and the eigenvectors as columns.
func (s *Scope) Eigen(x *Tensor) (values, vectors *Tensor) {
	outs := s.run(C.GRAFT_OP_EIGH, "eigh", arguments{}, 2, x)
	return outs[0], outs[1]
}

// Mean returns the average of all elements. The result does not depend on the number of threads.
func (s *Scope) Mean(x *Tensor) *Tensor {
	return s.one(C.GRAFT_OP_MEAN, "mean", arguments{}, x)
}
