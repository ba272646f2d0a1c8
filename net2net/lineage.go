package net2net

import (
	"slices"

	"graft/net2net/rewrite"
)

// lineage describes which elements of a parameter a change has added. The first copy of a slice, in the order of the
// slices, is the old slice.
type lineage struct {
	whole bool // the change has added the whole tensor
	dims  []origin
}

// origin describes a dimension with changed slices.
type origin struct {
	at    int
	from  []int // the old slice of each slice; any slice for one without an origin
	fresh []bool
}

// grows reports whether the change has added some slices.
func (l lineage) grows() bool {
	return slices.ContainsFunc(l.dims, func(o origin) bool { return slices.Contains(o.fresh, true) })
}

// share returns the fraction of a tensor's elements that are old.
func (l lineage) share() float64 {
	share := 1.0
	for _, o := range l.dims {
		old := 0
		for _, fresh := range o.fresh {
			if !fresh {
				old++
			}
		}
		share *= float64(old) / float64(len(o.fresh))
	}
	return share
}

// grown describes a dimension whose slices are copies of old slices; -1 means that a slice has no origin.
func grown(at int, sources []int) origin {
	o := origin{at: at, from: make([]int, len(sources)), fresh: make([]bool, len(sources))}
	seen := map[int]bool{}
	for k, source := range sources {
		o.from[k], o.fresh[k] = max(source, 0), source < 0 || seen[source]
		seen[source] = true
	}
	return o
}

// merged describes a dimension after grown is undone: it keeps the first copy of each slice.
func merged(at int, sources []int) origin {
	o := origin{at: at}
	first := map[int]int{}
	for k, source := range sources {
		if _, seen := first[source]; !seen && source >= 0 {
			first[source] = k
		}
	}
	for k := range len(first) {
		o.from = append(o.from, first[k])
	}
	o.fresh = make([]bool, len(o.from))
	return o
}

// framed describes a dimension of a kernel after slices were added on both sides, or removed if pad is negative.
func framed(at, size, pad int) origin {
	sources := make([]int, size)
	for k := range sources {
		sources[k] = k - pad
		if k-pad < 0 || k-pad >= size-2*pad {
			sources[k] = -1
		}
	}
	return grown(at, sources)
}

// lineage describes the tensor that a move makes, which has the given shape.
func (m Move) lineage(shape []int) (l lineage) {
	switch m.Fate {
	case New:
		l.whole = true
	case Copied, Split, Merged:
		of := grown
		if m.Fate == Merged {
			of = merged
		}
		if m.Rows != nil {
			l.dims = append(l.dims, of(0, m.Rows))
		}
		if m.Columns != nil {
			l.dims = append(l.dims, of(1, m.Columns))
		}
	case Padded, Cropped:
		l.dims = []origin{framed(2, shape[2], m.Pad[0]), framed(3, shape[3], m.Pad[1])}
	}
	return l
}

// graphLineage describes the tensor that a move of a graph's plan makes. A tensor that copies another tensor, which the
// plan also keeps, is new.
func graphLineage(p *rewrite.Plan, at int) (l lineage) {
	m := p.Moves[at]
	l.whole = isFresh(m) || slices.ContainsFunc(p.Moves[:at], func(o rewrite.Move) bool {
		return !isFresh(o) && o.From == m.From
	})
	for _, d := range m.Dims {
		o := grown(d.At, d.From)
		if d.Merge {
			o = merged(d.At, d.From)
		}
		k := slices.IndexFunc(l.dims, func(before origin) bool { return before.at == d.At })
		if k < 0 {
			l.dims = append(l.dims, o)
			continue
		}
		l.dims[k] = l.dims[k].then(o)
	}
	return l
}

// then describes a dimension that changes twice.
func (o origin) then(next origin) origin {
	all := origin{at: o.at}
	for k, from := range next.from {
		all.from = append(all.from, o.from[from])
		all.fresh = append(all.fresh, next.fresh[k] || o.fresh[from])
	}
	return all
}

// isFresh reports whether a move makes a tensor whose state does not follow from an old one.
func isFresh(m rewrite.Move) bool { return m.Fresh || m.Values != "" }
