package torch

// #include "graft.h"
import "C"

import (
	"errors"
	"unsafe"
)

// Generator produces random numbers on one device. A nil Generator means LibTorch's own generator, which all callers
// share.
type Generator struct {
	handle C.graft_generator
}

// NewGenerator creates a generator from a seed. The scope owns it.
func (s *Scope) NewGenerator(d Device, seed int64) *Generator {
	g := &Generator{}
	if !s.ready("make generator", nil) {
		return g
	}
	kind, index := d.code()
	if err := take("make generator", C.graft_generator_new(C.int32_t(kind), C.int32_t(index), C.int64_t(seed),
		&g.handle)); err != nil {
		s.fail(err)
		return g
	}
	s.hold(g)
	return g
}

func (g *Generator) release() {
	C.graft_generator_close(g.handle)
	g.handle = nil
}

func (g *Generator) pointer() C.graft_generator {
	if g == nil {
		return nil
	}
	return g.handle
}

func (g *Generator) ready(s *Scope, op string) bool {
	if g.handle != nil {
		return true
	}
	s.fail(&Error{Op: op, Cause: errors.New("the generator's scope is closed"), kind: ErrClosed})
	return false
}

// State returns the state of the generator, for Restore.
func (g *Generator) State() ([]byte, error) {
	var state []byte
	err := With(func(s *Scope) error {
		if !g.ready(s, "save generator") {
			return s.Err()
		}
		var out C.graft_t
		if err := take("save generator", C.graft_generator_state(g.handle, &out)); err != nil {
			return err
		}
		var err error
		state, err = s.adopt(unsafe.Pointer(out)).Bytes()
		return err
	})
	return state, err
}

// Restore sets the state of the generator to a state that State returned.
func (g *Generator) Restore(state []byte) error {
	return With(func(s *Scope) error {
		t := From(s, state, len(state))
		if !g.ready(s, "restore generator") || s.Err() != nil {
			return s.Err()
		}
		return take("restore generator", C.graft_generator_restore(g.handle, C.graft_t(t.handle)))
	})
}

// Uniform fills x with uniform values from low, inclusive, to high, exclusive.
func (s *Scope) Uniform(x *Tensor, low, high float64, random *Generator) {
	s.run(C.GRAFT_OP_UNIFORM_, "uniform", arguments{doubles: []float64{low, high}, random: random}, 0, x)
}

// Normal fills x with normally distributed values that have the given mean and standard deviation.
func (s *Scope) Normal(x *Tensor, mean, deviation float64, random *Generator) {
	s.run(C.GRAFT_OP_NORMAL_, "normal", arguments{doubles: []float64{mean, deviation}, random: random}, 0, x)
}

// Permutation returns the int64 values 0 to n-1 in random order.
func (s *Scope) Permutation(n int, random *Generator) *Tensor {
	return s.one(C.GRAFT_OP_RANDPERM, "permutation", arguments{ints: []int{n}, random: random})
}
