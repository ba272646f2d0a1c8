package starts

import (
	"fmt"
	"math"
	"slices"

	"graft/torch"
)

// tiny fits new units to what the existing weights cannot learn (Verbockhaven et al., Growing Tiny Networks: Spotting
// Expressivity Bottlenecks and Fixing Them Optimally, 2024, arXiv 2405.19816):
//
//  1. The desired change of each example's output is minus its gradient. The batch's gradient has the weight 1/n for
//     each of n examples.
//  2. The best update of the consuming layer, by least squares on its inputs, is subtracted. The rest is V, the
//     expressivity bottleneck.
//  3. With the patches B of the producing layer, as each output and tap of the consuming layer reads them, S = B·Bᵀ/n
//     and N = B·Vᵀ/n. The singular value decomposition of S^(-1/2)·N gives the values λ and the vectors u and v. A unit
//     has the incoming weights √λ·S^(-1/2)·u and the outgoing weights √λ·v, for the largest λ. Patches have a one for
//     the bias, if the producing layer has a bias.
//  4. All weights are multiplied by √γ. The amplitude is γ. Zero, the default, searches for the power of two from 2^-10
//     to 2^6 with the smallest loss on the batch, as the line search of the paper. The outgoing weights are zero if
//     none of them decreases the loss.
//
// The function changes: it takes a step along the negative gradient. Units beyond the rank of N start with random
// incoming weights and without outgoing weights.
var tiny = Kind{"tiny", "new units fit the gradient that existing weights cannot follow; changes the function (TINY)",
	func(s *torch.Scope, g *Segment, r Request) (*Units, error) {
		rest, err := g.bottleneck(s)
		if err != nil {
			return nil, err
		}
		root, err := g.whitening(s)
		if err != nil {
			return nil, err
		}
		if resolved, err := negligible(s, rest, g.Gradient); resolved || err != nil {
			return g.redundant(s, r, first(err, s.Err()))
		}
		rows, bias := g.patches()
		n, err := g.correlation(s, g.Straight, rest, rows, bias)
		if err != nil {
			return nil, err
		}
		d, err := decompose(s, s.MatMul(root, s.Neg(n)))
		if err != nil {
			return nil, err
		}
		whitening, err := matrix(s, root)
		if err != nil {
			return nil, err
		}
		u := g.blank(r.Count)
		for k := range min(r.Count, d.rank) {
			u.fit(k, whitening, d)
		}
		if err := u.search(s, g, r); err != nil {
			return nil, err
		}
		in, _, err := g.norms(s)
		u.fill(g, d.rank, r, in)
		return u, err
	}}

// redundant returns units for layers without a bottleneck.
func (g *Segment) redundant(s *torch.Scope, r Request, err error) (*Units, error) {
	if err != nil {
		return nil, err
	}
	in, _, err := g.norms(s)
	u := g.blank(r.Count)
	u.fill(g, 0, r, in)
	return u, err
}

// negligible reports whether the rest of a tensor is rounding.
func negligible(s *torch.Scope, rest, whole *torch.Tensor) (bool, error) {
	var squares [2]float64
	for k, x := range []*torch.Tensor{rest, whole} {
		x = s.To(s.Detach(x), torch.Float64, torch.CPU)
		square, err := s.Sum(s.Mul(x, x)).Item()
		if err != nil {
			return false, err
		}
		squares[k] = square
	}
	return squares[0] <= leastValue*leastValue*squares[1], nil
}

// fit sets a unit from a singular value and its vectors.
func (u *Units) fit(k int, whitening [][]float64, d *sides) {
	root := math.Sqrt(d.values[k])
	whole := make([]float64, len(whitening))
	for i, row := range whitening {
		whole[i] = root * dot(row, d.incoming[k])
	}
	sign := signed(whole)
	whole = scaled(whole, sign)
	copy(u.In[k], whole)
	if u.Bias != nil {
		u.Bias[k] = whole[len(whole)-1]
	}
	u.Out[k] = scaled(d.outgoing[k], sign*root)
}

// Powers of two of the amplitudes that the line search tries.
const (
	leastPower = -10
	mostPower  = 6
)

// search multiplies the weights by the root of the best amplitude.
func (u *Units) search(s *torch.Scope, g *Segment, r Request) error {
	if r.Amplitude > 0 {
		u.scale(math.Sqrt(r.Amplitude), math.Sqrt(r.Amplitude))
		return nil
	}
	loss := func(factor float64) (loss float64, err error) {
		s.NoGrad(func() {
			shift := g.contribution(s, u, factor)
			if s.Err() == nil {
				loss, err = g.Loss(shift)
			}
		})
		return loss, first(s.Err(), err)
	}
	least, err := loss(0)
	if err != nil {
		return err
	}
	best := 0.0
	for power := leastPower; power <= mostPower; power++ {
		amplitude := math.Ldexp(1, power)
		now, err := loss(math.Sqrt(amplitude))
		if err != nil {
			return err
		}
		if now < least {
			least, best = now, amplitude
		}
	}
	u.Notes = append(u.Notes, fmt.Sprintf("new units have the amplitude %g", best))
	if best == 0 {
		u.scale(1, 0)
		return nil
	}
	u.scale(math.Sqrt(best), math.Sqrt(best))
	return nil
}

// scale multiplies the incoming and the outgoing weights.
func (u *Units) scale(in, out float64) {
	for k := range u.In {
		u.In[k], u.Out[k] = scaled(u.In[k], in), scaled(u.Out[k], out)
	}
	if u.Bias != nil {
		u.Bias = scaled(u.Bias, in)
	}
}

// leastEigenvalue is the smallest eigenvalue of a covariance that counts, relative to the largest.
const leastEigenvalue = 1e-6

// bottleneck returns the gradient without the part that an update of the consuming layer can follow.
func (g *Segment) bottleneck(s *torch.Scope) (*torch.Tensor, error) {
	shape := g.Consumer.Weight.Shape()
	rowsOf := &Segment{Producer: g.Consumer, Inputs: g.Hidden}
	patches, bias := rowsOf.patches()
	weight, offset := rowsOf.incoming(s, patches), (*torch.Tensor)(nil)
	if bias != nil {
		offset = g.like(s, bias, len(bias))
	}
	size := len(patches)
	covariance := s.Zeros(torch.Float64, torch.CPU, size, size)
	product := s.Zeros(torch.Float64, torch.CPU, size, shape[0])
	var err error
	s.NoGrad(func() {
		err = rowsOf.chunks(size, func(s *torch.Scope, from, count int) {
			h := rows(s, g.Consumer.Apply(s, s.Narrow(g.Hidden, 0, from, count), weight, offset))
			turned := s.Transpose(h, 0, 1)
			s.Copy(covariance, s.Add(covariance, s.MatMul(turned, h)))
			s.Copy(product, s.Add(product, s.MatMul(turned, rows(s, s.Narrow(g.Gradient, 0, from, count)))))
		})
	})
	if err != nil {
		return nil, err
	}
	inverse, err := power(s, covariance, -1)
	if err != nil {
		return nil, err
	}
	update, err := matrix(s, s.Transpose(s.MatMul(inverse, product), 0, 1))
	if err != nil {
		return nil, err
	}
	own := make([][]float64, len(update))
	offsets := make([]float64, len(update))
	for k, row := range update {
		own[k] = row[:rowsOf.inputs()]
		offsets[k] = row[len(row)-1]
	}
	if bias != nil {
		offset = g.like(s, offsets, len(offsets))
	}
	var rest *torch.Tensor
	s.NoGrad(func() { rest = s.Sub(g.Gradient, g.Consumer.Apply(s, g.Hidden, rowsOf.incoming(s, own), offset)) })
	return rest, s.Err()
}

// whitening returns the inverse root of the covariance of the patches, as the consuming layer reads them.
func (g *Segment) whitening(s *torch.Scope) (*torch.Tensor, error) {
	patches, bias := g.patches()
	weight, offset := g.incoming(s, patches), (*torch.Tensor)(nil)
	if bias != nil {
		offset = g.like(s, bias, len(bias))
	}
	size := len(patches)
	covariance := s.Zeros(torch.Float64, torch.CPU, size, size)
	var reads *torch.Tensor
	if g.Consumer.Plane != nil {
		reads = s.Sqrt(g.reads(s))
	}
	var err error
	s.NoGrad(func() {
		err = g.chunks(size, func(s *torch.Scope, from, count int) {
			x := g.Producer.Apply(s, s.Narrow(g.Inputs, 0, from, count), weight, offset)
			x = forward(s, g.Straight, x)
			if reads != nil {
				x = s.Mul(x, reads)
			}
			values := rows(s, x)
			if g.Producer.Plane != nil {
				values = columns(s, x, size)
			}
			s.Copy(covariance, s.Add(covariance, s.MatMul(s.Transpose(values, 0, 1), values)))
		})
	})
	if err := first(s.Err(), err); err != nil {
		return nil, err
	}
	return power(s, s.Scale(covariance, 1/float64(g.Inputs.Shape()[0]), 0), -0.5)
}

// reads returns how often a consuming convolution reads each place.
func (g *Segment) reads(s *torch.Scope) *torch.Tensor {
	shape := g.Hidden.Shape()
	places := s.RequireGrad(g.like(s, make([]float64, product(shape[2:])), 1, 1, shape[2], shape[3]), true)
	kernel := g.Consumer.Weight.Shape()
	kernel[0], kernel[1] = 1, 1
	ones := g.like(s, slices.Repeat([]float64{1}, product(kernel)), kernel...)
	s.Backward(s.Sum(g.Consumer.Apply(s, places, ones, nil)))
	return s.Detach(s.Grad(places))
}

// power returns a power of a symmetric matrix, without its smallest eigenvalues.
func power(s *torch.Scope, x *torch.Tensor, exponent float64) (*torch.Tensor, error) {
	values, vectors := s.Eigen(x)
	if s.Err() != nil {
		return nil, s.Err()
	}
	factors, err := torch.Values[float64](values)
	if err != nil {
		return nil, err
	}
	largest := factors[len(factors)-1]
	for k, v := range factors {
		if v <= leastEigenvalue*largest {
			factors[k] = 0
		} else {
			factors[k] = math.Pow(v, exponent)
		}
	}
	return s.MatMul(s.Mul(vectors, torch.From(s, factors, 1, len(factors))), s.Transpose(vectors, 0, 1)), s.Err()
}
