package dl2

import (
	"errors"
	"fmt"

	"graft/learn/dense"
	"graft/torch/weights"
)

// saved writes tensors to a set or reads them, and keeps the first error.
type saved struct {
	set *weights.Set
	err error
}

func (s *saved) put(name string, values []float64) {
	s.set.Tensors = append(s.set.Tensors, weights.FromFloat64s(name, values))
}

// take reads all values of a tensor.
func (s *saved) take(name string) []float64 {
	t, ok := s.set.Find(name)
	if !ok {
		s.fail(fmt.Errorf("tensor %s is missing", name))
		return nil
	}
	if t.DType != weights.Float64 {
		s.fail(fmt.Errorf("tensor %s has type %s; expected float64", name, t.DType))
		return nil
	}
	values, err := t.Float64s()
	s.fail(err)
	return values
}

// takeSome reads a tensor with a number of values.
func (s *saved) takeSome(name string, count int) []float64 {
	values := s.take(name)
	if len(values) != count {
		s.fail(fmt.Errorf("tensor %s has %d values; expected %d", name, len(values), count))
		return make([]float64, count)
	}
	return values
}

// fail keeps the first error.
func (s *saved) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// putInts writes integers, exactly up to 2^53.
func (s *saved) putInts(name string, values []int) {
	all := make([]float64, len(values))
	for k, v := range values {
		all[k] = float64(v)
	}
	s.put(name, all)
}

func (s *saved) takeInts(name string) (all []int) {
	for _, v := range s.take(name) {
		n := int(v)
		if float64(n) != v {
			s.fail(fmt.Errorf("tensor %s has the value %v; expected whole numbers", name, v))
		}
		all = append(all, n)
	}
	return all
}

// errNumbers reports weights that are not finite.
var errNumbers = errors.New("some weights are not finite")

func (s *saved) putAll(name string, params [][]float64) {
	for k, p := range params {
		s.put(fmt.Sprintf("%s.%d", name, k), p)
	}
}

// takeAll fills parameters.
func (s *saved) takeAll(name string, params [][]float64) {
	for k, p := range params {
		copy(p, s.takeSome(fmt.Sprintf("%s.%d", name, k), len(p)))
	}
	if dense.Finite(name, params) != nil {
		s.fail(errNumbers)
	}
}

// has reports whether a list of parameters exists.
func (s *saved) has(name string) bool {
	_, ok := s.set.Find(name + ".0")
	return ok
}
