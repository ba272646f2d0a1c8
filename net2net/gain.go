package net2net

import (
	"errors"
	"fmt"
	"slices"

	"graft/model"
	"graft/torch"
	"graft/tracing"
)

// Gain estimates what an action can add to a network: the squared norm of the gradient of the loss with respect to the
// new weights, on o.Batch and with o.Loss. For "widen", the new units are linear and have orthonormal other sides,
// which maximise the norm: the sum of the largest squared singular values of GradMax. For "deepen" and "branch", the
// new layers start as the options state. The network is not changed.
func Gain(n *model.Network, a Action, o Options) (gain float64, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("gain of %s on %s: %w", a, n.Name(), err)
		}
	}()
	if n.Scope() == nil {
		return 0, errors.New("the network has no weights yet; initialize or load them first")
	}
	if a.Kind == None {
		return 0, nil
	}
	measure, err := o.gain(n, a)
	if err != nil {
		return 0, err
	}
	err = onTwin(n, o, func(s *torch.Scope, twin *model.Network) (err error) {
		gain, err = measure(s, twin)
		return err
	})
	return gain, err
}

// CheckGain returns an error if the gain of an action is undefined. The action must fit the network, which needs no
// weights.
func CheckGain(n *model.Network, a Action, o Options) error {
	if a.Kind == None {
		return nil
	}
	_, err := o.gain(n, a)
	return err
}

// GainKinds lists the operations whose gain is defined. A larger kernel adds taps to existing units, and no units.
func GainKinds() []Kind { return []Kind{deepening.kind, widening.kind, branches.kind} }

// measuredGain computes the gain of an action on a copy of the network.
type measuredGain func(s *torch.Scope, twin *model.Network) (float64, error)

// gain finds the tensors that determine the gain of an action.
func (o Options) gain(n *model.Network, a Action) (measuredGain, error) {
	switch {
	case !slices.Contains(GainKinds(), a.Kind):
		return nil, fmt.Errorf("the gain of %s is undefined; use one of %v", a.Kind, GainKinds())
	case a.Kind != widening.kind:
		o.Start = Copies
		return func(s *torch.Scope, twin *model.Network) (float64, error) { return o.newGain(s, twin, a) }, nil
	}
	o.Start = gradMaxStart
	if n.Graph != nil {
		return o.graphGain(n, a)
	}
	return o.treeGain(n, a)
}

// gradMaxStart is the start that Gain describes.
const gradMaxStart Start = "gradmax"

// treeGain is the gain of wider layers of a tree.
func (o Options) treeGain(n *model.Network, a Action) (measuredGain, error) {
	trace, err := tracing.Read(n)
	if err != nil {
		return nil, err
	}
	space, now, err := trace.SpaceAt(a.Target)
	if err != nil {
		return nil, err
	}
	units, err := space.Target(now, a.Size)
	if err != nil {
		return nil, err
	}
	c, err := o.chain(trace, space)
	if err != nil {
		return nil, err
	}
	return func(s *torch.Scope, twin *model.Network) (float64, error) {
		g, err := o.segment(s, twin, c)
		if err != nil {
			return 0, err
		}
		return g.Gain(s, units-space.Units)
	}, nil
}

// newGain applies an action to a copy of the network, and returns the squared gradient of the new tensors.
func (o Options) newGain(s *torch.Scope, twin *model.Network, a Action) (gain float64, err error) {
	change, err := Apply(twin, a, o)
	if err != nil {
		return 0, err
	}
	fresh := map[string]bool{}
	for _, m := range change.Moves {
		fresh[m.Name] = m.Fate == New
	}
	for _, e := range twin.Trained() {
		s.RequireGrad(e.Tensor, fresh[e.Name])
	}
	p, err := twin.Still(s)
	if err != nil {
		return 0, err
	}
	s.Backward(o.Loss(s, p.Forward(s, o.Batch, true, nil)))
	for _, e := range twin.Trained() {
		if !fresh[e.Name] {
			continue
		}
		grad := s.To(s.Detach(s.Grad(e.Tensor)), torch.Float64, torch.CPU)
		square, err := s.Sum(s.Mul(grad, grad)).Item()
		if err != nil {
			return 0, err
		}
		gain += square
	}
	return gain, s.Err()
}
