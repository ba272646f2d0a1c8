package net2net

import (
	"errors"
	"fmt"
	"slices"

	"graft/model"
	"graft/net2net/rewrite"
	"graft/net2net/starts"
	"graft/torch"
	"graft/tracing"
)

// chainOf is the part of a tree between the layer that makes a space and the layer that sums over it.
type chainOf struct {
	producer, consumer *tracing.Layer
	norm               *tracing.Layer   // batch normalisation behind the producer; nil if there is none
	between            []*tracing.Layer // other layers in between
}

// start computes new units of a space.
func (e *edit) start(space *tracing.Space, a Action, now int) error {
	c, err := e.Options.chain(e.trace, space)
	if err != nil {
		return err
	}
	old := space.Units
	switch {
	case e.replay != nil:
		return e.repeat(c)
	case e.s == nil: // only shapes change
		e.change.Units = mappingOf(old, slices.Repeat([]int{-1}, now-old))
		return nil
	}
	var g *grownUnits
	err = evidence(e.net, e.Options, func(s *torch.Scope, twin *model.Network) error {
		segment, err := e.Options.segment(s, twin, c)
		if err != nil {
			return err
		}
		eps := 0.0
		if c.norm != nil {
			eps = c.norm.Leaf.Layer.(model.BatchNorm).Eps
		}
		g, err = e.Options.units(s, segment, old, now, eps)
		return err
	})
	if err != nil {
		return err
	}
	e.change.Units, e.change.Notes = g.units, slices.Concat(e.change.Notes, g.notes)
	c.add(e.added, g)
	return nil
}

// repeat takes the new units from a record.
func (e *edit) repeat(c *chainOf) error {
	e.change.Units, e.change.Notes = slices.Clone(e.replay.Units), slices.Clone(e.replay.Notes)
	named := map[string][]rewrite.Added{}
	for _, m := range e.replay.Moves {
		named[m.Name] = m.Added
	}
	for _, entry := range e.net.State() {
		if added := named[entry.Name]; added != nil {
			e.added[slotKey{entry.Leaf, entry.At}] = added
		}
	}
	if e.s != nil && e.added[slotKey{c.producer.Leaf, 0}] == nil {
		return errors.New("the record has no weights of new units; it was made from a network without weights")
	}
	return nil
}

// add assigns values to the tensors of the layers.
func (c *chainOf) add(to map[slotKey][]rewrite.Added, g *grownUnits) {
	set := func(leaf *model.Leaf, role model.Role, values []rewrite.Added) {
		for k, slot := range leaf.Layer.Slots() {
			if slot.Role == role && values != nil {
				to[slotKey{leaf, k}] = values
			}
		}
	}
	set(c.producer.Leaf, model.Weight, g.weight)
	set(c.producer.Leaf, model.Bias, g.bias)
	set(c.consumer.Leaf, model.Weight, g.next)
	if c.norm != nil {
		set(c.norm.Leaf, model.Scale, g.scale)
		set(c.norm.Leaf, model.Bias, g.shift)
		set(c.norm.Leaf, model.Mean, g.mean)
		set(c.norm.Leaf, model.Var, g.deviation)
	}
}

// chain finds the layers of a space, or states why a start does not fit them.
func (o Options) chain(t *tracing.Trace, space *tracing.Space) (*chainOf, error) {
	c := &chainOf{}
	on := func(e tracing.Edge) bool {
		return slices.ContainsFunc(e.Parts, func(p tracing.Part) bool { return p.Space == space })
	}
	for _, l := range t.Layers {
		in, out := on(l.In), on(l.Out)
		if in && len(l.In.Parts) != 1 || out && len(l.Out.Parts) != 1 {
			return nil, o.refused("layer %s concatenates the units with others", l.At.Path)
		}
		opens := l.Leaf.Layer.Channels().Opens
		var err error
		switch {
		case opens && out && in:
			err = o.refused("layer %s reads and makes the units", l.At.Path)
		case opens && out:
			err = o.only(&c.producer, l, "make the units, as in a residual sum")
		case opens && in:
			err = o.only(&c.consumer, l, "read the units")
		case in:
			err = o.between(c, l)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case c.producer == nil || c.consumer == nil:
		return nil, o.refused("it needs a linear layer or a convolution that makes the units, and one that reads them")
	case c.producer.Out.Parts[0].Channels != space.Units:
		return nil, o.refused("the units have several channels each")
	}
	return c, nil
}

// only sets a layer that must be the only one of its role.
func (o Options) only(to **tracing.Layer, l *tracing.Layer, role string) error {
	if *to != nil {
		return o.refused("the layers %s and %s both %s", (*to).At.Path, l.At.Path, role)
	}
	*to = l
	return nil
}

// between adds a layer that works on each unit alone.
func (o Options) between(c *chainOf, l *tracing.Layer) error {
	switch layer := l.Leaf.Layer.(type) {
	case model.BatchNorm:
		if c.norm != nil || len(c.between) > 0 || !layer.Affine {
			return o.refused("layer %s, %s, does not directly follow the layer that makes the units, or has no scale",
				l.At.Path, layer)
		}
		c.norm = l
	case model.Activation, model.AvgPool2d, model.MaxPool2d, model.AdaptiveAvgPool2d, model.Flatten, model.Dropout,
		model.Identity:
		c.between = append(c.between, l)
	default:
		return o.refused("layer %s, %s, combines the units", l.At.Path, layer)
	}
	return nil
}

// segment measures the layers of a chain on a copy of the network.
func (o Options) segment(s *torch.Scope, n *model.Network, c *chainOf) (*starts.Segment, error) {
	g := &starts.Segment{Producer: layerOf(c.producer.Leaf), Consumer: layerOf(c.consumer.Leaf), Normed: c.norm != nil}
	var err error
	if g.Middle, err = c.program(s, true); err != nil {
		return nil, err
	}
	if g.Straight, err = c.program(s, false); err != nil {
		return nil, err
	}
	before := func(l *tracing.Layer) func() (*torch.Program, error) {
		return func() (*torch.Program, error) { return n.Before(s, l.At.Path) }
	}
	return g, o.measured(s, g, taps{input: before(c.producer), hidden: before(c.consumer),
		output:  func() (*torch.Program, error) { return n.After(s, c.consumer.At.Path) },
		shifted: func(by *torch.Tensor) (*torch.Program, error) { return n.Shifted(s, c.consumer.At.Path, by) }})
}

// layerOf describes a linear layer or a convolution.
func layerOf(leaf *model.Leaf) starts.Layer {
	l := starts.Layer{Weight: leaf.Weights[0]}
	if len(leaf.Weights) > 1 {
		l.Bias = leaf.Weights[1]
	}
	if conv, ok := leaf.Layer.(model.Conv2d); ok {
		plane := conv.Plane()
		l.Plane = &plane
	}
	return l
}

// program runs the layers in between, with or without the activations; nil if there are none.
func (c *chainOf) program(s *torch.Scope, activate bool) (*torch.Program, error) {
	var b torch.Builder
	x, any := b.Input(), false
	for _, l := range c.between {
		_, active := l.Leaf.Layer.(model.Activation)
		_, drops := l.Leaf.Layer.(model.Dropout)
		if drops || active && !activate {
			continue
		}
		x, any = l.Leaf.Layer.Emit(&b, x, nil), true
	}
	if !any {
		return nil, nil
	}
	return s.NewProgram(&b, x, torch.ProgramOptions{}), s.Err()
}

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
	err = evidence(n, o, func(s *torch.Scope, twin *model.Network) (err error) {
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
