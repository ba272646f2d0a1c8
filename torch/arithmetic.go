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
// char *Sum(graft_t a, graft_t *out);
// char *Mean(graft_t a, graft_t *out);
// void FreeString(const char *text);
import "C"

// The operators of small networks. They call gotorch's C half directly: its Go half sets a
// finalizer and calls C twice for each result, a quarter of the time of so small an operator.

// begin prepares a result, or reports that the operator must not run.
func (s *Scope) begin(op string, operands ...*Tensor) (*Tensor, bool) {
	if !s.ready(op, operands) {
		return &Tensor{}, false
	}
	return s.next(), true
}

// finish makes the scope own the result, or notes gotorch's message.
func (s *Scope) finish(t *Tensor, message *C.char, op string, operands ...*Tensor) *Tensor {
	if message == nil {
		s.own(t)
		return t
	}
	text := C.GoString(message)
	C.FreeString(message)
	return s.fail(newError(op, text, operands...))
}

// Add is a + b, broadcast as PyTorch does.
func (s *Scope) Add(a, b *Tensor) *Tensor {
	t, ok := s.begin("add", a, b)
	if !ok {
		return t
	}
	return s.finish(t, C.Add(C.graft_t(a.handle), C.graft_t(b.handle), 1, (*C.graft_t)(&t.handle)), "add", a, b)
}

// Sub is a - b.
func (s *Scope) Sub(a, b *Tensor) *Tensor {
	t, ok := s.begin("sub", a, b)
	if !ok {
		return t
	}
	return s.finish(t, C.Sub(C.graft_t(a.handle), C.graft_t(b.handle), 1, (*C.graft_t)(&t.handle)), "sub", a, b)
}

// Mul is a * b, element by element.
func (s *Scope) Mul(a, b *Tensor) *Tensor {
	t, ok := s.begin("mul", a, b)
	if !ok {
		return t
	}
	return s.finish(t, C.Mul(C.graft_t(a.handle), C.graft_t(b.handle), (*C.graft_t)(&t.handle)), "mul", a, b)
}

// Div is a / b, element by element.
func (s *Scope) Div(a, b *Tensor) *Tensor {
	t, ok := s.begin("div", a, b)
	if !ok {
		return t
	}
	return s.finish(t, C.Div(C.graft_t(a.handle), C.graft_t(b.handle), (*C.graft_t)(&t.handle)), "div", a, b)
}

// MM is the product of two matrices.
func (s *Scope) MM(a, b *Tensor) *Tensor {
	t, ok := s.begin("mm", a, b)
	if !ok {
		return t
	}
	return s.finish(t, C.MM(C.graft_t(a.handle), C.graft_t(b.handle), (*C.graft_t)(&t.handle)), "mm", a, b)
}

// ReLU is max(x, 0).
func (s *Scope) ReLU(x *Tensor) *Tensor {
	t, ok := s.begin("relu", x)
	if !ok {
		return t
	}
	return s.finish(t, C.Relu(C.graft_t(x.handle), (*C.graft_t)(&t.handle)), "relu", x)
}

// Sigmoid is 1 / (1 + exp(-x)).
func (s *Scope) Sigmoid(x *Tensor) *Tensor {
	t, ok := s.begin("sigmoid", x)
	if !ok {
		return t
	}
	return s.finish(t, C.Sigmoid(C.graft_t(x.handle), (*C.graft_t)(&t.handle)), "sigmoid", x)
}

// Tanh is the hyperbolic tangent.
func (s *Scope) Tanh(x *Tensor) *Tensor {
	t, ok := s.begin("tanh", x)
	if !ok {
		return t
	}
	return s.finish(t, C.Tanh(C.graft_t(x.handle), (*C.graft_t)(&t.handle)), "tanh", x)
}

// LogSoftmax is the logarithm of softmax along a dimension.
func (s *Scope) LogSoftmax(x *Tensor, dim int) *Tensor {
	t, ok := s.begin("log_softmax", x)
	if !ok {
		return t
	}
	return s.finish(t, C.LogSoftmax(C.graft_t(x.handle), C.int64_t(dim), (*C.graft_t)(&t.handle)), "log_softmax", x)
}

// Sum is the sum of all elements.
func (s *Scope) Sum(x *Tensor) *Tensor {
	t, ok := s.begin("sum", x)
	if !ok {
		return t
	}
	return s.finish(t, C.Sum(C.graft_t(x.handle), (*C.graft_t)(&t.handle)), "sum", x)
}

// Mean is the average of all elements.
func (s *Scope) Mean(x *Tensor) *Tensor {
	t, ok := s.begin("mean", x)
	if !ok {
		return t
	}
	return s.finish(t, C.Mean(C.graft_t(x.handle), (*C.graft_t)(&t.handle)), "mean", x)
}
