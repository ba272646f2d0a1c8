package fabric

import "slices"

// Clone returns an independent copy of a simulation in its current state, for use in the same goroutine. It does not
// copy the fields Each and Pick.
func (w *World) Clone() *World {
	c := *w
	c.Jobs, c.owner, c.ends = slices.Clone(w.Jobs), slices.Clone(w.owner), w.ends.Clone()
	c.batch, c.places, c.Each, c.Pick = nil, nil, nil, nil
	return &c
}
