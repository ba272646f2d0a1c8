package net2net

import (
	"fmt"
	"math"

	"graft/model"
	"graft/torch"
)

// Drift is the difference between the logits of two networks on the same inputs. The zero Drift means equal logits.
type Drift struct {
	Largest float64 `json:"largest"` // largest absolute difference
	// Relative is Largest divided by the largest absolute logit or by 1, whichever is greater.
	Relative float64 `json:"relative"`
	L2       float64 `json:"l2"` // norm of the differences divided by the norm of the logits
}

// Compare returns the difference between the logits of two networks on the same inputs, in train or in eval mode. It
// runs copies without dropout, so neither network is changed.
func Compare(before, after *model.Network, inputs *torch.Tensor, training bool) (Drift, error) {
	x, err := Logits(before, inputs, training)
	if err != nil {
		return Drift{}, err
	}
	y, err := Logits(after, inputs, training)
	if err != nil {
		return Drift{}, err
	}
	if len(x) != len(y) {
		return Drift{}, fmt.Errorf("compare networks: got %d outputs before surgery and %d after it; such surgery "+
			"cannot be verified; turn verification off", len(x), len(y))
	}
	return DriftBetween(x, y), nil
}

// DriftBetween returns the difference between the values x and y. Both lists must have the same length. The relative
// differences are relative to x.
func DriftBetween(x, y []float64) Drift {
	var d Drift
	scale, gap, size := 1.0, 0.0, 0.0
	for k := range x {
		apart := math.Abs(x[k] - y[k])
		if math.IsNaN(apart) {
			apart = math.Inf(1) // exceeds every tolerance
		}
		d.Largest, scale = max(d.Largest, apart), max(scale, math.Abs(x[k]))
		gap, size = gap+apart*apart, size+x[k]*x[k]
	}
	d.Relative = d.Largest / scale
	if gap > 0 {
		d.L2 = math.Sqrt(gap / max(size, math.SmallestNonzeroFloat64))
	}
	return d
}

// Logits returns the logits of a copy of a network without dropout. The network itself is not changed.
func Logits(n *model.Network, inputs *torch.Tensor, training bool) (values []float64, err error) {
	err = torch.With(func(s *torch.Scope) error {
		twin, err := n.Clone(s)
		if err != nil {
			return err
		}
		for _, leaf := range twin.Leaves() {
			if d, ok := leaf.Layer.(model.Dropout); ok {
				d.P = 0
				leaf.Layer = d
			}
		}
		if twin.Graph != nil {
			twin.Graph = twin.Graph.WithoutDropout()
		}
		p, err := twin.Program(s, torch.ProgramOptions{})
		if err != nil {
			return err
		}
		s.NoGrad(func() {
			values, err = torch.Values[float64](s.To(p.Forward(s, inputs, training, nil), torch.Float64, torch.CPU))
		})
		if s.Err() != nil {
			return s.Err()
		}
		return err
	})
	return values, err
}
