package net2net

import (
	"errors"
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
	err = onTwin(e.net, e.Options, func(s *torch.Scope, twin *model.Network) error {
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
