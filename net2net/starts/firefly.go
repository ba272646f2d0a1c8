package starts

import (
	"math/rand/v2"
	"slices"

	"graft/torch"
)

// candidatesPerUnit is the number of random candidates for each new unit.
const candidatesPerUnit = 4

// firefly selects candidates by the gradient of the loss with respect to their size (Wu et al., Firefly Neural
// Architecture Descent, 2020, arXiv 2102.08574). The candidates are splits of existing units and new units,
// and the best are taken together. The size ε is the amplitude.
//
// A new unit has incoming weights in a random direction, with the mean norm of the existing units, and the outgoing
// weights ε·v. The paper optimises v by gradient descent; here v is the direction of steepest descent, which is known
// in closed form, with the mean norm of the existing outgoing weights. Incoming directions are drawn and not optimised,
// four for each new unit.
//
// A split of a unit with the incoming weights θ gives it θ + εδ and its copy θ - εδ, and each of them half of the
// outgoing weights. The direction δ is random, with the mean norm of the existing units. The loss decreases in
// proportion to ε² at most, so its decrease is estimated at ε, with the gradient of the unchanged network. Each unit
// has one such candidate. There are none if ε is zero, because copies would stay equal, or if units are normalised.
//
// Zero, the default of ε, keeps the function. Otherwise the function changes in proportion to ε.
var firefly = Kind{"firefly", "new units are the best of random units and splits of units (Firefly)",
	func(s *torch.Scope, g *Segment, r Request) (*Units, error) {
		in, out, err := g.norms(s)
		if err != nil {
			return nil, err
		}
		random := rand.New(rand.NewPCG(r.Seed, 0x66697265))
		all, err := g.fresh(s, random, candidatesPerUnit*r.Count, in, out)
		if err != nil {
			return nil, err
		}
		if r.Amplitude > 0 && !g.Normed {
			splits, err := g.splits(s, random, r.Amplitude, in)
			if err != nil {
				return nil, err
			}
			all = slices.Concat(all, splits)
		}
		slices.SortStableFunc(all, func(a, b candidate) int {
			switch {
			case a.score > b.score:
				return -1
			case a.score < b.score:
				return 1
			}
			return 0
		})
		u := g.blank(r.Count)
		for k, c := range all[:r.Count] {
			u.In[k], u.Splits[k] = c.in, c.splits
			if c.splits < 0 {
				u.Out[k] = scaled(c.out, r.Amplitude)
			} else {
				u.In[k] = scaled(c.in, -r.Amplitude)
			}
		}
		return u, nil
	}}

// candidate is a possible new unit.
type candidate struct {
	in, out []float64
	splits  int     // unit that it splits; -1 for a new unit
	score   float64 // decrease of the loss per ε
}

// gradients returns the gradient of the outgoing weights of each candidate.
func (g *Segment) gradients(s *torch.Scope, rows [][]float64, bias []float64) ([][]float64, error) {
	x, err := g.correlation(s, g.Middle, g.Gradient, rows, bias)
	if err != nil {
		return nil, err
	}
	return matrix(s, x)
}

// fresh draws new units.
func (g *Segment) fresh(s *torch.Scope, random *rand.Rand, count int, in, out float64) ([]candidate, error) {
	rows := make([][]float64, count)
	for k := range rows {
		rows[k] = direction(random, g.inputs(), in)
	}
	gradients, err := g.gradients(s, rows, nil)
	if err != nil {
		return nil, err
	}
	all := make([]candidate, count)
	for k, gradient := range gradients {
		all[k] = candidate{in: rows[k], out: normed(gradient, -out), splits: -1, score: out * norm(gradient)}
	}
	return all, nil
}

// splits draws a split of each unit, and keeps those that decrease the loss.
func (g *Segment) splits(s *torch.Scope, random *rand.Rand, epsilon, in float64) ([]candidate, error) {
	weights, err := matrix(s, g.Producer.Weight)
	if err != nil {
		return nil, err
	}
	var bias []float64
	if g.Producer.Bias != nil {
		own, err := torch.Values[float64](s.To(s.Detach(g.Producer.Bias), torch.Float64, torch.CPU))
		if err != nil {
			return nil, err
		}
		bias = slices.Concat(own, own, own)
	}
	deltas, plus, minus := zeros(len(weights), 0), zeros(len(weights), 0), zeros(len(weights), 0)
	for k, w := range weights {
		deltas[k] = direction(random, g.inputs(), in)
		plus[k], minus[k] = moved(w, deltas[k], epsilon), moved(w, deltas[k], -epsilon)
	}
	gradients, err := g.gradients(s, slices.Concat(plus, minus, weights), bias)
	if err != nil {
		return nil, err
	}
	outgoing, err := g.existing(s)
	if err != nil {
		return nil, err
	}
	var all []candidate
	for k, v := range outgoing {
		half := (dot(v, gradients[k]) + dot(v, gradients[k+len(weights)])) / 2
		if score := (dot(v, gradients[k+2*len(weights)]) - half) / epsilon; score > 0 {
			all = append(all, candidate{in: deltas[k], splits: k, score: score})
		}
	}
	return all, nil
}

func moved(v, delta []float64, by float64) []float64 {
	out := slices.Clone(v)
	for k := range out {
		out[k] += by * delta[k]
	}
	return out
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for k := range a {
		sum += a[k] * b[k]
	}
	return sum
}
