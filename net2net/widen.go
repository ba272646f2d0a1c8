package net2net

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"graft/model"
	"graft/net2net/rewrite"
	"graft/torch"
	"graft/tracing"
)

// widening copies units of a channel space, and divides the consumers' weights among the
// copies: Net2WiderNet.
var widening = operation{
	kind:    "widen",
	usage:   "widen:LAYER:CHANNELS",
	about:   "add channels to the output of a layer or block, and to all tensors that must change with it",
	apply:   widen,
	revert:  narrow,
	propose: proposeWider,
}

func proposeWider(t *tracing.Trace) []Action {
	var actions []Action
	seen := map[*tracing.Space]bool{}
	for _, l := range t.Layers {
		if !l.Leaf.Layer.Channels().Opens || len(l.Out.Parts) != 1 {
			continue
		}
		space, now := l.Out.Parts[0].Space, l.Out.Parts[0].Channels
		if len(space.Fixed) > 0 || seen[space] {
			continue
		}
		seen[space] = true
		want := now / space.Units * (space.Units + (space.Units+1)/2)
		actions = append(actions, Action{Kind: "widen", Target: l.At.Path, Size: want})
	}
	return actions
}

func widen(e *edit, a Action) error {
	space, now, err := e.trace.SpaceAt(a.Target)
	if err != nil {
		return err
	}
	if a.Size == 0 {
		return fmt.Errorf("the number of channels is missing; use, for example, widen:%s:%d", a.Target, 2*now)
	}
	units, err := space.Target(now, a.Size)
	if err != nil {
		return fmt.Errorf("%s cannot be widened to %d channels: %w", a.Target, a.Size, err)
	}
	if e.Start.NeedsData() {
		err = e.start(space, a, units)
	} else {
		e.change.Units = e.mapping(space.Units, units)
	}
	if err != nil {
		return err
	}
	if err := e.change.copies(space.Units, units); err != nil {
		return err
	}
	if joint := others(space, a.Target); len(joint) > 0 {
		e.note("also changed: %s", strings.Join(joint, ", "))
	}
	return e.resize(space, e.change.Units, space.Units, units)
}

// mapping draws the original unit of each unit: old units map to themselves, new ones to a random old one.
func (e *edit) mapping(old, now int) []int {
	if e.replay != nil {
		return slices.Clone(e.replay.Units)
	}
	random := rand.New(rand.NewPCG(e.Seed, 0x77696465)) // a separate stream for widening
	units := make([]int, now)
	for k := range units {
		units[k] = k
		if k >= old {
			units[k] = random.IntN(old)
		}
	}
	return units
}

// copies checks the sizes of a mapping.
func (c *Change) copies(old, now int) error {
	if err := c.validate(); err != nil {
		return err
	}
	if len(c.Units) != now || slices.Max(c.Units) != old-1 {
		return fmt.Errorf("the record's unit mapping does not match a change from %d to %d units", old, now)
	}
	return nil
}

func others(space *tracing.Space, target string) []string {
	var names []string
	for _, l := range space.Makers {
		if path := l.At.Path; path != target && !slices.Contains(names, path) {
			names = append(names, path)
		}
	}
	if len(names) < 2 {
		return nil
	}
	return names
}

// narrow merges copies.
func narrow(e *edit, c *Change) error {
	space, _, err := e.trace.SpaceAt(c.Action.Target)
	if err != nil {
		return err
	}
	if err := c.validate(); err != nil {
		return err
	}
	if len(c.Units) == 0 || !divides(e.trace, space, len(c.Units)) {
		return fmt.Errorf("the recorded change has %d units, which do not match the channels of %s", len(c.Units),
			c.Action.Target)
	}
	old := slices.Max(c.Units) + 1
	return e.resize(space, c.Units, len(c.Units), old)
}

// divides reports whether the channels of a space can be divided into units everywhere.
func divides(t *tracing.Trace, space *tracing.Space, units int) bool {
	for _, l := range t.Layers {
		for _, part := range slices.Concat(l.In.Parts, l.Out.Parts) {
			if part.Space == space && part.Channels%units != 0 {
				return false
			}
		}
	}
	return true
}

// resize changes every layer of a space from now to want units. The mapping goes from the wide to the narrow side in
// both directions of change.
func (e *edit) resize(space *tracing.Space, mapping []int, now, want int) error {
	x := expansion{space: space, mapping: mapping, now: now, want: want}
	done := map[*model.Leaf]bool{}
	for _, l := range e.trace.Layers {
		in, out := x.index(l.In), x.index(l.Out)
		if done[l.Leaf] || in == nil && out == nil {
			continue
		}
		done[l.Leaf] = true
		old := l.Leaf.Layer
		l.Leaf.Layer = model.Resized(old, x.width(l.In), x.width(l.Out))
		if err := e.rewire(l.Leaf, old, in, out, want < now); err != nil {
			return err
		}
	}
	return nil
}

// expansion computes channels from units.
type expansion struct {
	space     *tracing.Space
	mapping   []int
	now, want int // units before and after the operation
}

// width is the number of channels of an edge after the operation.
func (x expansion) width(e tracing.Edge) int {
	sum := 0
	for _, part := range e.Parts {
		sum += x.part(part)
	}
	return sum
}

func (x expansion) part(p tracing.Part) int {
	if p.Space != x.space {
		return p.Channels
	}
	return p.Channels / x.now * x.want
}

// index maps each channel of an edge on the wide side to its channel on the narrow side;
// nil if the space is not on the edge.
func (x expansion) index(e tracing.Edge) []int {
	var sources []int
	touched, narrow := false, 0
	for _, part := range e.Parts {
		if part.Space != x.space {
			for k := range part.Channels {
				sources = append(sources, narrow+k)
			}
			narrow += part.Channels
			continue
		}
		touched = true
		size := part.Channels / x.now
		for _, unit := range x.mapping {
			for k := range size {
				if unit < 0 {
					sources = append(sources, -1)
				} else {
					sources = append(sources, narrow+unit*size+k)
				}
			}
		}
		narrow += size * min(x.now, x.want)
	}
	if !touched {
		return nil
	}
	return sources
}

// rewire gives a leaf tensors of its new size.
func (e *edit) rewire(leaf *model.Leaf, old model.Layer, in, out []int, merge bool) error {
	for k, slot := range old.Slots() {
		m := moveOf(slot, in, out, merge)
		if m.Fate == Kept {
			continue
		}
		m.Partition = m.Fate == Split && e.change.Split == SplitPartition
		m.Added = e.added[slotKey{leaf, k}]
		e.moves[slotKey{leaf, k}] = m
		if e.s == nil {
			continue
		}
		t := e.carry(m, leaf.Weights[k], value)
		if m.Partition {
			rewrite.Partition(e.s, t, 1, m.Columns, rand.New(rand.NewPCG(e.Seed, uint64(len(e.moves)))))
		}
		for _, a := range m.Added {
			if err := a.Apply(e.s, t); err != nil {
				return err
			}
		}
		if e.Noise > 0 && !merge && slot.Role == model.Weight && m.Rows != nil {
			t = e.addNoise(t, m.Rows)
		}
		leaf.Weights[k] = e.s.RequireGrad(t, slot.Role.Trained())
	}
	return nil
}

// moveOf returns the move of a tensor with axes over resized channels.
func moveOf(slot model.Slot, in, out []int, merge bool) Move {
	m := Move{Fate: Kept}
	for dim, axis := range slot.Axes {
		switch {
		case axis == model.Out && out != nil && dim == 0:
			m.Rows, m.Fate = out, Copied
		case axis == model.In && in != nil && dim == 1:
			m.Columns, m.Fate = in, Split
		}
	}
	if merge && m.Fate != Kept {
		m.Fate = Merged
	}
	return m
}

// addNoise adds noise to copied rows.
func (e *edit) addNoise(t *torch.Tensor, rows []int) *torch.Tensor {
	mask := make([]float64, len(rows))
	seen := map[int]bool{}
	for k, source := range rows {
		if seen[source] {
			mask[k] = 1
		}
		seen[source] = true
	}
	place := e.net.Placement()
	shape := t.Shape()
	noise := e.s.Zeros(torch.Float32, torch.CPU, shape...)
	e.s.Normal(noise, 0, 1, e.s.NewGenerator(torch.CPU, int64(e.Seed)))
	rms := e.s.Sqrt(e.s.Mean(e.s.Mul(t, t)))
	scaled := e.s.Scale(e.s.Mul(e.s.To(noise, place.DType, place.Device), rms), e.Noise, 0)
	return e.s.Add(t, e.s.Spread(scaled, torch.Sources{Scale: e.carrier().vector(mask)}))
}
