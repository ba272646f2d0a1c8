package axes

import "slices"

// Term describes a dimension: an axis, a product of terms (such as heads times the size of a head), or a sum of terms
// (such as stacked queries, keys and values). Terms that must be equal are merged, and Find returns the representative
// of the merged terms.
type Term struct {
	Size  int
	Kind  Kind
	Parts []*Term // parts of a product or a sum, outermost or first part first
	Fixed string  // reason why the axis cannot change; empty if it can

	root *Term
}

// Kind is the form of a term: an axis, a product or a sum.
type Kind int

// Forms of a term. The zero Kind is an axis.
const (
	Axis Kind = iota
	Product
	Sum
)

func fresh(size int) *Term { return &Term{Size: size} }

func productOf(parts ...*Term) *Term { return composite(Product, parts) }

func sumOf(parts ...*Term) *Term { return composite(Sum, parts) }

func composite(kind Kind, parts []*Term) *Term {
	t := &Term{Kind: kind, Size: 1}
	if kind == Sum {
		t.Size = 0
	}
	for _, p := range parts {
		switch {
		case kind == Sum:
			t.Size += p.Size
		case p.Size == 1:
			continue
		default:
			t.Size *= p.Size
		}
		t.Parts = append(t.Parts, p)
	}
	switch len(t.Parts) {
	case 0:
		return &Term{Size: t.Size}
	case 1:
		return t.Parts[0]
	}
	return t
}

// Find returns the term that represents this term and all terms merged with it.
func (t *Term) Find() *Term {
	for t.root != nil {
		t = t.root
	}
	return t
}

// Factors returns the factors of a product, including nested factors. For any other term it returns the term itself.
func (t *Term) Factors() []*Term { return t.flat(Product) }

// Summands returns the summands of a sum, including nested summands. For any other term it returns the term itself.
func (t *Term) Summands() []*Term { return t.flat(Sum) }

func (t *Term) flat(kind Kind) []*Term {
	t = t.Find()
	if t.Kind != kind {
		if t.Size == 1 && kind == Product {
			return nil
		}
		return []*Term{t}
	}
	var all []*Term
	for _, p := range t.Parts {
		all = append(all, p.flat(kind)...)
	}
	return all
}

// Axes calls the function visit for each occurrence of an axis in the term.
func (t *Term) Axes(visit func(*Term)) {
	t = t.Find()
	if t.Kind == Axis {
		visit(t)
		return
	}
	for _, p := range t.Parts {
		p.Axes(visit)
	}
}

// Has reports whether an axis occurs in the term.
func (t *Term) Has(axis *Term) bool {
	found := false
	t.Axes(func(a *Term) { found = found || a == axis })
	return found
}

// Fix marks all axes of the term as fixed, so that their sizes cannot change, and records the reason. An axis that is
// already fixed keeps its reason.
func (t *Term) Fix(reason string) {
	t.Axes(func(a *Term) {
		if a.Fixed == "" {
			a.Fixed = reason
		}
	})
}

// unify makes two terms equal. If their forms do not fit, both become fixed.
func unify(a, b *Term) {
	a, b = a.Find(), b.Find()
	switch {
	case a == b:
	case a.Size != b.Size:
		a.Fix(mismatch)
		b.Fix(mismatch)
	case a.Kind == Axis:
		bind(a, b)
	case b.Kind == Axis:
		bind(b, a)
	case a.Kind == b.Kind:
		refine(a.Kind, a.flat(a.Kind), b.flat(a.Kind))
	default:
		a.Fix(mismatch)
		b.Fix(mismatch)
	}
}

const mismatch = "operators use it in incompatible ways"

// bind makes an axis refer to another term.
func bind(axis, to *Term) {
	if to.Has(axis) {
		to.Fix(mismatch)
		return
	}
	axis.root = to
	if axis.Fixed != "" {
		to.Fix(axis.Fixed)
	}
}

// refine unifies two lists of parts with the same product or sum. A part that is larger than its counterpart is
// divided, the outer or first piece first.
func refine(kind Kind, a, b []*Term) {
	a, b = slices.Clone(a), slices.Clone(b)
	for len(a) > 0 && len(b) > 0 {
		x, y := a[0].Find(), b[0].Find()
		if x.Kind == kind || y.Kind == kind { // a part was divided in the meantime
			a, b = append(x.flat(kind), a[1:]...), append(y.flat(kind), b[1:]...)
			continue
		}
		switch {
		case x.Size == y.Size:
			unify(x, y)
			a, b = a[1:], b[1:]
		case divide(kind, x, y.Size):
			a = append(x.flat(kind), a[1:]...)
		case divide(kind, y, x.Size):
			b = append(y.flat(kind), b[1:]...)
		default:
			fixAll(slices.Concat(a, b))
			return
		}
	}
	fixAll(slices.Concat(a, b))
}

func fixAll(parts []*Term) {
	for _, p := range parts {
		p.Fix(mismatch)
	}
}

// divide turns an axis into a product or a sum whose first part has a given size.
func divide(kind Kind, t *Term, first int) bool {
	if t.Kind != Axis || t.Size <= first || kind == Product && t.Size%first != 0 {
		return false
	}
	rest := t.Size - first
	if kind == Product {
		rest = t.Size / first
	}
	bind(t, composite(kind, []*Term{fresh(first), fresh(rest)}))
	return t.root != nil
}
