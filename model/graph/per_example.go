package graph

import "slices"

// PerExample returns the number of values of a result that one example adds. The batch may be part of any dimension, as
// in [batch*16, 64] or [length, batch, 64]. A result that does not depend on the batch, such as a mask, counts the
// values of all dimensions except the first. Results with one value per example, and scalars, count as zero.
func (s *Sizes) PerExample(v Value) int64 {
	shape := s.shapes[v]
	rest := 0
	if len(shape) > 1 {
		rest = product(shape[1:])
	}
	if len(shape) == 0 || int64(shape[0]) == s.batch {
		return int64(rest)
	}
	count := int64(product(shape))
	switch double, known := s.doubled()[v]; {
	case known && int64(product(double)) != count:
		return (int64(product(double)) - count) / s.batch
	case !known && len(shape) > 1 && count%s.batch == 0: // other sizes are fixed to this batch
		return count / s.batch
	}
	return int64(rest)
}

// doubled returns the shapes for a batch of twice the size; empty if the graph does not accept that batch.
func (s *Sizes) doubled() map[Value][]int {
	if s.double != nil {
		return s.double
	}
	other := *s.graph
	other.Input.Shape = slices.Clone(other.Input.Shape)
	if len(other.Input.Shape) > 0 {
		other.Input.Shape[0].N *= 2
	}
	sizes, err := other.Sizes()
	if s.double = sizes.shapes; err != nil {
		s.double = map[Value][]int{}
	}
	return s.double
}
