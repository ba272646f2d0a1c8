package fabric

import "slices"

// Clone returns a world in the same state, which goes on by itself in the same goroutine. Each and
// Pick are left out.
func (w *World) Clone() *World {
	c := *w
	c.Jobs, c.owner, c.ends = slices.Clone(w.Jobs), slices.Clone(w.owner), w.ends.Clone()
	c.batch, c.places, c.Each, c.Pick = nil, nil, nil, nil
	return &c
}
