package torch

// #include "graft.h"
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/wangkuiyi/gotorch"
)

// borrow runs one of gotorch's operators and makes this scope own its result. It converts gotorch's panics to errors
// and removes its finalizer.
func (s *Scope) borrow(op string, call func() gotorch.Tensor, operands ...*Tensor) (out *Tensor) {
	if !s.ready(op, operands) {
		return &Tensor{}
	}
	defer func() {
		if r := recover(); r != nil {
			out = s.fail(newError(op, fmt.Sprint(r), operands...))
		}
	}()
	return s.take(call())
}

// take makes the scope the owner of gotorch's result, instead of the finalizer.
func (s *Scope) take(result gotorch.Tensor) *Tensor {
	runtime.SetFinalizer(result.T, nil)
	return s.adopt(*result.T)
}

// arguments are the arguments of one of the shim's operators.
type arguments struct {
	ints    []int
	doubles []float64
	random  *Generator
}

// run calls one of the shim's operators; optional operands may be nil.
func (s *Scope) run(op C.int32_t, name string, a arguments, results int, operands ...*Tensor) []*Tensor {
	outs := make([]*Tensor, results)
	for k := range outs {
		outs[k] = &Tensor{}
	}
	if !s.ready(name, present(operands)) || (a.random != nil && !a.random.ready(s, name)) {
		return outs
	}
	ins := make([]C.graft_t, len(operands))
	for k, t := range operands {
		if t != nil {
			ins[k] = C.graft_t(t.handle)
		}
	}
	var handles [3]C.graft_t
	ints := int64s(a.ints)
	message := C.graft_op(op, unsafe.SliceData(ins), C.int32_t(len(ins)), unsafe.SliceData(ints), C.int32_t(len(ints)),
		(*C.double)(unsafe.SliceData(a.doubles)), C.int32_t(len(a.doubles)), a.random.pointer(), &handles[0],
		C.int32_t(results))
	if message != nil {
		text := C.GoString(message)
		C.graft_free_error(message)
		s.fail(newError(name, text, present(operands)...))
		return outs
	}
	for k := range outs {
		outs[k] = s.adopt(unsafe.Pointer(handles[k]))
	}
	return outs
}

// one runs an operator with one result.
func (s *Scope) one(op C.int32_t, name string, a arguments, operands ...*Tensor) *Tensor {
	return s.run(op, name, a, 1, operands...)[0]
}

func present(operands []*Tensor) []*Tensor {
	for _, t := range operands {
		if t == nil {
			return compact(operands)
		}
	}
	return operands
}

func compact(operands []*Tensor) []*Tensor {
	var out []*Tensor
	for _, t := range operands {
		if t != nil {
			out = append(out, t)
		}
	}
	return out
}
