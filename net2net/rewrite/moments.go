package rewrite

import (
	"math"
	"slices"

	"graft/torch"
)

// Moments returns the optimizer's moment of a tensor after the change; power is 1 for the first moment and 2 for the
// second moment. Each element of the old moment is scaled by the fraction of the old gradient that the element
// receives, raised to the power. An element without an origin starts with a first moment of zero, and with the mean of
// the second moment. Moments returns nil for a tensor whose optimizer state is reset.
func (p *Plan) Moments(s *torch.Scope, m Move, moment *torch.Tensor, power float64) *torch.Tensor {
	if m.Values != "" || m.Fresh || moment == nil {
		return nil
	}
	t, padded := moment, false
	for _, d := range m.Dims {
		t = d.moment(s, t, power)
		padded = padded || !d.Merge && slices.Contains(d.From, -1)
	}
	if padded && power == 2 {
		t = s.Add(t, s.Mul(m.padding(s, moment), s.Mean(moment)))
	}
	if m.Scale != 0 {
		t = s.Scale(t, math.Pow(1/m.Scale, power), 0)
	}
	return t
}

// moment changes a dimension of a moment. Padding is zero.
func (d Dim) moment(s *torch.Scope, t *torch.Tensor, power float64) *torch.Tensor {
	d.Pad = Zeros
	switch {
	case power == 1 || d.Moment == nil:
		return d.apply(s, t, d.Moment, nil)
	case !d.Merge:
		factors := make([]float64, len(d.Moment))
		for k, f := range d.Moment {
			factors[k] = math.Pow(f, power)
		}
		return d.apply(s, t, factors, nil)
	case d.Split || !d.joins():
		return d.apply(s, t, d.Moment, nil)
	}
	root := d.apply(s, s.Sqrt(t), d.Moment, nil) // gradients of copies add up, and the second moment has their squares
	return s.Mul(root, root)
}

// joins reports whether several slices become one.
func (d Dim) joins() bool {
	seen := map[int]bool{}
	return slices.ContainsFunc(d.From, func(to int) bool {
		again := to >= 0 && seen[to]
		seen[to] = true
		return again
	})
}

// padding returns 1 for elements without an origin, and 0 for others.
func (m Move) padding(s *torch.Scope, old *torch.Tensor) *torch.Tensor {
	t := s.Scale(s.Detach(old), 0, 1)
	for _, d := range m.Dims {
		d.Pad = Zeros
		t = d.apply(s, t, nil, nil)
	}
	return s.Scale(t, -1, 1)
}
