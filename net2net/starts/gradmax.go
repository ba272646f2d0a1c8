package starts

import (
	"fmt"
	"math/rand/v2"

	"graft/torch"
)

// gradMax maximises the norm of the gradient of the new weights (Evci et al., GradMax: Growing Neural Networks using
// Gradient Information, 2022, arXiv 2201.05125). One side of a new unit is zero, so the function is kept. The
// other side is a singular vector of the gradient of the loss with respect to a linear bypass from the patches of the
// producing layer to the consuming layer. Its norm is the mean norm of the existing units' weights on that side, as in
// the authors' experiments, times the amplitude.
//
// The incoming side is zero if the layers in between map zero to zero with a slope there, such as tanh; this is the
// paper's main case. Otherwise the outgoing side is zero, such as for ReLU, whose derivative at zero is zero in
// LibTorch, and for units that are normalised. The incoming weights are then the right singular vectors, which are
// optimal if the activation were linear.
//
// The gradient has only as many singular vectors as its rank. Further units get random incoming weights.
var gradMax = Kind{"gradmax", "one side of new units is zero, the other side has the largest gradient (GradMax)",
	func(s *torch.Scope, g *Segment, r Request) (*Units, error) {
		sides, err := g.bypass(s)
		if err != nil {
			return nil, err
		}
		in, out, err := g.norms(s)
		if err != nil {
			return nil, err
		}
		incoming, err := g.responds(s)
		if err != nil {
			return nil, err
		}
		u, amplitude := g.blank(r.Count), or(r.Amplitude, 1)
		for k := range min(r.Count, sides.rank) {
			if incoming {
				u.Out[k] = normed(sides.outgoing[k], amplitude*out)
			} else {
				u.In[k] = normed(sides.incoming[k], amplitude*in)
			}
		}
		u.fill(g, sides.rank, r, amplitude*in)
		return u, nil
	}}

func or(value, otherwise float64) float64 {
	if value == 0 {
		return otherwise
	}
	return value
}

// fill gives random incoming weights to the units from a place on.
func (u *Units) fill(g *Segment, from int, r Request, size float64) {
	if from >= r.Count {
		return
	}
	random := rand.New(rand.NewPCG(r.Seed, 0x66696c6c))
	for k := from; k < r.Count; k++ {
		u.In[k], u.Out[k] = direction(random, g.inputs(), size), make([]float64, g.outputs())
	}
	u.Notes = append(u.Notes, fmt.Sprintf("%d of %d new units start with random incoming weights, because the "+
		"gradient has the rank %d", r.Count-from, r.Count, from))
}

// sides are the singular vectors of a matrix, whose rows are the inputs of a unit and whose columns are its outputs.
type sides struct {
	incoming, outgoing [][]float64
	values             []float64
	rank               int
}

// leastValue is the smallest singular value that counts, relative to the largest: rounding in float32 creates smaller
// ones.
const leastValue = 1e-6

// bypass decomposes the gradient of the loss with respect to a linear bypass of the units.
func (g *Segment) bypass(s *torch.Scope) (*sides, error) {
	rows, _ := g.patches()
	rows = rows[:g.inputs()]
	gradient, err := g.correlation(s, g.Straight, g.Gradient, rows, nil)
	if err != nil {
		return nil, err
	}
	return decompose(s, gradient)
}

func decompose(s *torch.Scope, x *torch.Tensor) (*sides, error) {
	left, values, right := s.SVD(x)
	if s.Err() != nil {
		return nil, s.Err()
	}
	d := &sides{}
	var err error
	if d.values, err = torch.Values[float64](values); err != nil {
		return nil, err
	}
	if d.incoming, err = matrix(s, s.Transpose(left, 0, 1)); err != nil {
		return nil, err
	}
	if d.outgoing, err = matrix(s, right); err != nil {
		return nil, err
	}
	for d.rank < len(d.values) && d.values[d.rank] > leastValue*d.values[0] {
		sign := signed(d.incoming[d.rank])
		d.incoming[d.rank] = scaled(d.incoming[d.rank], sign)
		d.outgoing[d.rank] = scaled(d.outgoing[d.rank], sign)
		d.rank++
	}
	return d, nil
}

// Gain returns the squared norm of the gradient that a number of new units would have, if they were linear and their
// other sides were orthonormal: the sum of the largest squared singular values that GradMax uses.
func (g *Segment) Gain(s *torch.Scope, count int) (float64, error) {
	d, err := g.bypass(s)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, v := range d.values[:min(count, len(d.values))] {
		sum += v * v
	}
	return sum, nil
}
