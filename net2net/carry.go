package net2net

import (
	"slices"

	"graft/torch"
)

// quantity is the kind of tensor to transfer: values or an optimizer's moments.
type quantity int

// Powers by which a moment depends on the gradient. If a channel is copied and its consumers' weights are divided among
// the copies, each copy has the same share of the gradient, and the gradient of the consumers' weights does not change.
// With SplitPartition, the copies have the same share only on average, and their second moments start too small, by up
// to the number of copies.
// The first moment is proportional to the gradient, the second to its square.
const (
	value quantity = iota
	first
	second
)

// carry applies a move to a tensor.
func (e *edit) carry(m Move, t *torch.Tensor, q quantity) *torch.Tensor {
	return e.carrier().move(m, t, q)
}

func (e *edit) carrier() carrier { return carrier{e.s, e.net.Placement().Device} }

// carrier moves tensors in a scope, on a device.
type carrier struct {
	s *torch.Scope
	d torch.Device
}

func (c carrier) move(m Move, t *torch.Tensor, q quantity) *torch.Tensor {
	switch m.Fate {
	case Copied, Split:
		return c.spread(m, t, q)
	case Merged:
		return c.merge(m, t, q)
	case Padded, Cropped:
		h, w := m.Pad[0], m.Pad[1]
		padded := c.s.Pad(t, w, w, h, h)
		if q == second && m.Fate == Padded {
			return c.fillBorder(padded, t, h, w)
		}
		return padded
	default:
		return t
	}
}

// fillBorder fills the new border of a second moment with the mean of the old one, so new taps learn as fast as the
// taps around them.
func (c carrier) fillBorder(padded, t *torch.Tensor, h, w int) *torch.Tensor {
	inside := c.s.Pad(c.s.Scale(t, 0, 1), w, w, h, h)
	outside := c.s.Scale(inside, -1, 1)
	return c.s.Add(padded, c.s.Mul(outside, c.s.Mean(t)))
}

func (c carrier) spread(m Move, t *torch.Tensor, q quantity) *torch.Tensor {
	var from torch.Sources
	t = c.s.Detach(t)
	if m.Rows != nil {
		from.Rows = c.index(c.withNew(&t, 0, m.Rows, q))
		if q != value {
			from.Scale = c.vector(shares(m.Rows, q))
		}
	}
	if m.Columns != nil {
		from.Columns = c.index(c.withNew(&t, 1, m.Columns, q))
		if q == value && !m.Partition {
			copies, firsts := counts(m.Columns)
			from.Copies, from.First = c.vector(copies), c.vector(firsts)
		}
	}
	return c.s.Spread(t, from)
}

// withNew appends a slice for new units to a tensor, and returns the sources with its index. The slice is zero, except
// for a second moment: there it is the mean of the tensor, so that new units learn as fast as the others.
func (c carrier) withNew(t **torch.Tensor, dim int, sources []int, q quantity) []int {
	if !slices.Contains(sources, -1) {
		return sources
	}
	slice := c.s.Scale(c.s.Narrow(*t, dim, 0, 1), 0, 0)
	if q == second {
		slice = c.s.Add(slice, c.s.Mean(*t))
	}
	last := (*t).Shape()[dim]
	*t = c.s.Cat(dim, *t, slice)
	sources = slices.Clone(sources)
	for k, source := range sources {
		if source < 0 {
			sources[k] = last
		}
	}
	return sources
}

// merge undoes spread. For values it averages rows and sums columns; for gradients the reverse.
func (c carrier) merge(m Move, t *torch.Tensor, q quantity) *torch.Tensor {
	t = c.s.Detach(t)
	if m.Columns != nil { // before the rows: copied rows are equal only after their columns are summed
		t = c.fold(t, 1, m.Columns, q != value)
	}
	if m.Rows != nil {
		_, copies, _ := firstCopies(m.Rows)
		switch {
		case q == value:
			t = c.fold(t, 0, m.Rows, true)
		case q == first || len(copies) == 0: // the root of a square is not exact
			t = c.fold(t, 0, m.Rows, false)
		default:
			root := c.fold(c.s.Sqrt(t), 0, m.Rows, false)
			t = c.s.Mul(root, root)
		}
	}
	return t
}

// fold sums the slices of a source, or averages them; the average of equal slices is
// exact.
func (c carrier) fold(t *torch.Tensor, dim int, sources []int, mean bool) *torch.Tensor {
	firsts, extra, target := firstCopies(sources)
	base := c.s.Clone(c.s.IndexSelect(t, dim, c.index(firsts)))
	if len(extra) == 0 {
		return base
	}
	more := c.s.IndexSelect(t, dim, c.index(extra))
	if mean {
		more = c.s.Sub(more, c.s.IndexSelect(base, dim, c.index(target)))
		more = c.divide(more, dim, target, sources)
	}
	c.s.IndexAdd(base, dim, c.index(target), more, 1)
	return base
}

// divide divides each slice by the number of copies of its source.
func (c carrier) divide(t *torch.Tensor, dim int, target, sources []int) *torch.Tensor {
	count := make(map[int]float64)
	for _, source := range sources {
		count[source]++
	}
	factors := make([]float64, len(target))
	for k, source := range target {
		factors[k] = 1 / count[source]
	}
	if dim == 0 {
		return c.s.Spread(t, torch.Sources{Scale: c.vector(factors)})
	}
	turned := c.s.Spread(c.s.Transpose(t, 0, 1), torch.Sources{Scale: c.vector(factors)})
	return c.s.Transpose(turned, 0, 1)
}

// firstCopies splits the wide side into the first copy of each source in the order of the sources, the other copies,
// and the sources of the other copies.
func firstCopies(sources []int) (firsts, extra, target []int) {
	at := make(map[int]int)
	for k, source := range sources {
		if source < 0 {
			continue // new units are dropped
		}
		if _, seen := at[source]; seen {
			extra, target = append(extra, k), append(target, source)
		} else {
			at[source] = k
		}
	}
	firsts = make([]int, len(at))
	for source, k := range at {
		firsts[source] = k
	}
	return firsts, extra, target
}

// counts returns for each channel the number of copies of its source, and whether it is the first of them.
func counts(sources []int) (copies, firsts []float64) {
	count := make(map[int]float64)
	firsts = make([]float64, len(sources))
	for k, source := range sources {
		if count[source] == 0 {
			firsts[k] = 1
		}
		count[source]++
	}
	copies = make([]float64, len(sources))
	for k, source := range sources {
		copies[k] = count[source]
	}
	return copies, firsts
}

// shares returns the part of a gradient, or of its square, that belongs to each copy.
func shares(sources []int, q quantity) []float64 {
	copies, _ := counts(sources)
	for k, n := range copies {
		if sources[k] < 0 {
			copies[k] = 1 // a new unit shares nothing
			continue
		}
		copies[k] = 1 / n
		if q == second {
			copies[k] = 1 / (n * n)
		}
	}
	return copies
}

func (c carrier) index(values []int) *torch.Tensor {
	wide := make([]int64, len(values))
	for k, v := range values {
		wide[k] = int64(v)
	}
	return torch.FromOn(c.s, c.d, wide, len(wide))
}

func (c carrier) vector(values []float64) *torch.Tensor {
	return torch.FromOn(c.s, c.d, values, len(values))
}
