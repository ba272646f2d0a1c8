package torch

// #include "graft.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"
)

// Scope owns the tensors, programs, optimizers and generators created in it, and frees all of them when it is closed.
// Only one goroutine may use it at a time. NewScope and With create it; the zero Scope is closed.
//
// A scope keeps the first error of its operators. After an error every operator returns immediately with an empty
// tensor, so a chain of operators is checked once, at its end, with Err.
type Scope struct {
	*lists
	resources []resource
	err       error
	open      bool
	alarm     alarm
}

// lists are a scope's working memory. It is reused after the scope closes, so a scope per step makes no garbage.
type lists struct {
	tensors []*Tensor   // owned tensors, in the order of creation
	fresh   []Tensor    // unused tensors
	handles []C.graft_t // for closing all in one call
}

var spareLists = sync.Pool{New: func() any { return new(lists) }}

// slab is the number of tensors that are allocated together.
const slab = 32

// next returns an unused Tensor from the slab.
func (l *lists) next() *Tensor {
	if len(l.fresh) == 0 {
		l.fresh = make([]Tensor, slab)
	}
	t := &l.fresh[0]
	l.fresh = l.fresh[1:]
	return t
}

// resource is an object other than a tensor that a scope owns.
type resource interface{ release() }

// NewScope opens a scope. The first call opens LibTorch; if that fails, Err returns the reason.
func NewScope() *Scope {
	s := &Scope{lists: spareLists.Get().(*lists), open: true, err: Load()}
	s.alarm = watch(s)
	return s
}

// With opens a scope, runs body in it and closes it. It returns the errors from body and from the operations in the
// scope. During the call, the goroutine stays on one thread, so LibTorch keeps a single pool of workers for it.
func With(body func(s *Scope) error) (err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := NewScope()
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Err(); err != nil {
		return err
	}
	if err := body(s); err != nil {
		return err
	}
	return s.Err()
}

// Err returns the first error of any operator in this scope.
func (s *Scope) Err() error { return s.err }

// Close frees everything that the scope owns. Closing a scope twice returns an error.
func (s *Scope) Close() error {
	if !s.open {
		return &Error{Op: "close scope", Cause: errors.New("the scope is already closed"), Remedy: "close a scope " +
			"only once",
			kind: ErrClosed}
	}
	s.open = false
	s.alarm.stop()
	for k := len(s.resources) - 1; k >= 0; k-- {
		s.resources[k].release()
	}
	s.resources = nil
	s.free(s.tensors)
	clear(s.tensors)
	s.tensors = s.tensors[:0]
	spareLists.Put(s.lists)
	s.lists = nil
	return nil
}

// Free frees tensors at once, instead of when the scope closes. Using a freed tensor is an error.
func (s *Scope) Free(tensors ...*Tensor) {
	if !s.ready("free", nil) {
		return
	}
	for _, t := range tensors {
		s.disown(t)
	}
	s.free(tensors)
}

// free closes the handles in one call.
func (s *Scope) free(tensors []*Tensor) {
	s.handles = s.handles[:0]
	for _, t := range tensors {
		if t.handle == nil {
			continue
		}
		s.handles = append(s.handles, C.graft_t(t.handle))
		t.handle, t.scope = nil, nil
	}
	if len(s.handles) > 0 {
		C.graft_close_tensors(&s.handles[0], C.int64_t(len(s.handles)))
	}
}

// Keep moves tensors from this scope to another scope, which then owns them.
func (s *Scope) Keep(into *Scope, tensors ...*Tensor) {
	for _, t := range tensors {
		if t.handle == nil || t.scope != s || !into.open {
			s.fail(&Error{Op: "keep tensor", Subject: t.brief(), kind: ErrClosed,
				Cause: errors.New("the tensor does not belong to this scope, or the other scope is closed")})
			return
		}
		s.disown(t)
		into.own(t)
	}
}

func (s *Scope) own(t *Tensor) {
	t.scope, t.index = s, len(s.tensors)
	s.tensors = append(s.tensors, t)
}

// disown removes t from the scope's list; the last tensor takes its place.
func (s *Scope) disown(t *Tensor) {
	if t.scope != s {
		return
	}
	last := len(s.tensors) - 1
	s.tensors[t.index] = s.tensors[last]
	s.tensors[t.index].index = t.index
	s.tensors[last] = nil
	s.tensors = s.tensors[:last]
	t.scope = nil
}

func (s *Scope) fail(err error) *Tensor {
	if s.err == nil {
		s.err = err
	}
	return &Tensor{}
}

// ready reports whether an operator can run on its operands, and records the reason if not.
func (s *Scope) ready(op string, operands []*Tensor) bool {
	if s.err != nil {
		return false
	}
	if !s.open {
		s.fail(&Error{Op: op, Cause: errors.New("the scope is closed"), Remedy: "call the operator before Close",
			kind: ErrClosed})
		return false
	}
	for k, t := range operands {
		if t == nil || t.handle == nil {
			s.fail(&Error{Op: op, Cause: fmt.Errorf("operand %d is closed or was never created", k+1), kind: ErrClosed,
				Remedy: "keep the operand in a scope that lives longer"})
			return false
		}
	}
	return true
}

// adopt makes the scope the owner of a handle from the shim.
func (s *Scope) adopt(handle unsafe.Pointer) *Tensor {
	t := s.next()
	t.handle = handle
	s.own(t)
	return t
}

// hold makes the scope the owner of a resource.
func (s *Scope) hold(r resource) { s.resources = append(s.resources, r) }

// drop releases a resource before the scope closes.
func (s *Scope) drop(r resource) {
	s.resources = slices.DeleteFunc(s.resources, func(other resource) bool { return other == r })
	r.release()
}

// NoGrad runs body without recording gradients.
func (s *Scope) NoGrad(body func()) {
	if !s.ready("no_grad", nil) {
		return
	}
	runtime.LockOSThread() // the mode belongs to the thread
	defer runtime.UnlockOSThread()
	was := C.graft_set_grad_mode(0)
	defer C.graft_set_grad_mode(was)
	body()
}
