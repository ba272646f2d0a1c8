package net2net

import (
	"fmt"
	"slices"
	"strings"

	"graft/torch"
)

// Moments selects the optimizer's state after a change of the network. The zero Moments means Carry.
type Moments string

// Values of Moments.
const (
	// Carry lets the state follow the parameters, as Optimizer.Follow describes.
	Carry Moments = "carry"
	// ResetNew resets the state of new tensors and of new slices of tensors that grew; all other state is carried
	// (SPARKLING, Yu et al. 2026, arXiv 2602.02472, whose reset breaks the symmetry between copies).
	//
	// A new tensor starts with the state of a new optimizer. A new slice shares Adam's step count with the old slices
	// of its tensor, so Adam corrects its moments for the bias of an old tensor, which is almost none. If both of its
	// moments started at zero, its first updates would be too large: n steps with gradients of the same size change a
	// parameter by (1-β1ⁿ)/√(1-β2ⁿ) times the learning rate per step, which is 3.2 for n = 1 and 6.5 for n = 10 with
	// the usual β1 = 0.9 and β2 = 0.999, instead of 1. The correction exists only because moments start at zero (Kingma
	// and Ba 2015, section 3), so a new slice starts with a first moment of zero, and with the mean second moment of
	// the old slices. It then needs no correction, and its first updates are smaller than the updates of the old
	// slices. SGD's momentum of a new slice starts at zero.
	ResetNew Moments = "reset-new"
	// Reset resets the state of all parameters, as in a new optimizer.
	Reset Moments = "reset"
)

// AllMoments lists the names of all values of Moments; the empty name means Carry.
func AllMoments() []Moments { return []Moments{"", Carry, ResetNew, Reset} }

// Validate returns an error for an unknown value.
func (m Moments) Validate() error {
	if slices.Contains(AllMoments(), m) {
		return nil
	}
	var names []string
	for _, name := range AllMoments()[1:] {
		names = append(names, string(name))
	}
	return fmt.Errorf("moments is %q; expected one of: %s", string(m), strings.Join(names, ", "))
}

// Following selects what Optimizer.Follow does with the parameters that a change adds. The zero Following carries the
// state of the optimizer and records nothing.
type Following struct {
	Moments Moments
	// Births records the elements that the change adds in Optimizer.Born, as added before the step with the number
	// Step. False records none, and drops earlier records.
	Births bool
	Step   int64
}

// longAgo is the step number of elements that no change has added. It is below the negative length of any warm-up.
const longAgo = -1 << 40

// keep returns 1 for the old elements of a tensor and 0 for the new ones, in a shape that can be broadcast to the
// tensor's; nil if all elements are old.
func (l lineage) keep(s *torch.Scope, t *torch.Tensor) (*torch.Tensor, error) {
	info, err := t.Info()
	if err != nil {
		return nil, err
	}
	var all *torch.Tensor
	for _, o := range l.dims {
		if !slices.Contains(o.fresh, true) {
			continue
		}
		values, shape := make([]float64, len(o.fresh)), slices.Repeat([]int{1}, len(info.Shape))
		for k, fresh := range o.fresh {
			if !fresh {
				values[k] = 1
			}
		}
		shape[o.at] = len(values)
		one := s.To(torch.From(s, values, shape...), info.DType, info.Device)
		if all != nil {
			one = s.Mul(all, one)
		}
		all = one
	}
	return all, s.Err()
}

// settle changes the carried state of a tensor with new slices as ResetNew describes.
func (f *follower) settle(p *followed) error {
	return torch.With(func(s *torch.Scope) error {
		for _, moment := range []**torch.Tensor{&p.First, &p.Second} {
			if *moment == nil {
				continue
			}
			keep, err := p.keep(s, *moment)
			if err != nil {
				return err
			}
			next := s.Mul(s.Detach(*moment), keep)
			if moment == &p.Second {
				mean := s.Scale(s.Mean(next), 1/p.share(), 0)
				next = s.Add(next, s.Mul(s.Scale(keep, -1, 1), mean))
			}
			s.Keep(f.s, next)
			f.s.Free(*moment) // a copy, because the tensor grew
			*moment = next
		}
		return s.Err()
	})
}

// births returns the step before which each element of a tensor was added, given the record of the old tensor; nil if
// no change has added any.
func (f *follower) births(l lineage, shape []int, old *torch.Tensor) (born *torch.Tensor, err error) {
	if !f.Births || !l.whole && !l.grows() && (old == nil || l.dims == nil) {
		return f.same(old), nil
	}
	err = torch.With(func(s *torch.Scope) error {
		now := float64(f.Step)
		if l.whole {
			born = s.Full(now, torch.Float64, f.d, shape...)
			s.Keep(f.s, born)
			return s.Err()
		}
		born = s.Full(longAgo, torch.Float64, f.d, shape...)
		if old != nil {
			born = old
			for _, o := range l.dims {
				born = s.IndexSelect(born, o.at, carrier{s, f.d}.index(o.from))
			}
		}
		keep, err := l.keep(s, born)
		if err != nil {
			return err
		}
		if keep != nil {
			born = s.Add(s.Mul(born, keep), s.Scale(keep, -now, now))
		}
		s.Keep(f.s, born)
		return s.Err()
	})
	return born, err
}

// same returns the record of a tensor that did not change; nil without Births.
func (f *follower) same(old *torch.Tensor) *torch.Tensor {
	if !f.Births {
		return nil
	}
	return old
}
