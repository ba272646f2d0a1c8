package rewrite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"graft/model/graph"
	"graft/torch"
)

// Apply creates the tensors of the new graph from the tensors of the old graph, by name. The scope owns new tensors. A
// tensor that does not change is not copied. The tensors do not require gradients.
func (p *Plan) Apply(s *torch.Scope, before map[string]*torch.Tensor) (map[string]*torch.Tensor, error) {
	after := make(map[string]*torch.Tensor, len(p.Moves))
	taken := map[*torch.Tensor]bool{}
	for k, m := range p.Moves {
		from := before[m.From]
		if from == nil {
			return nil, fmt.Errorf("apply surgery: tensor %q not found", m.From)
		}
		if plain := m.Fold == nil && m.Scale == 0 && m.Dims == nil && m.Values == "" && !m.Fresh &&
			m.Added == nil; plain &&
			!taken[from] {
			after[m.Name], taken[from] = from, true
			continue
		}
		t, err := p.carry(s, m, from, before, s.NewGenerator(torch.CPU, int64(p.Seed)*1_000_003+int64(k)), uint64(k))
		if err != nil {
			return nil, fmt.Errorf("apply surgery to %s: %w", m.Name, err)
		}
		after[m.Name] = t
	}
	for _, t := range p.Graph.Tensors {
		if t.Tied != "" {
			after[t.Name] = after[t.Tied]
		}
	}
	return after, s.Err()
}

func (p *Plan) carry(s *torch.Scope, m Move, from *torch.Tensor, before map[string]*torch.Tensor,
	random *torch.Generator, index uint64) (*torch.Tensor, error) {
	t := s.Clone(s.Detach(from))
	if m.Fold != nil {
		t = fold(s, t, *m.Fold, before)
	}
	if m.Scale != 0 {
		t = s.Scale(t, m.Scale, 0)
	}
	for _, d := range m.Dims {
		t = d.apply(s, t, d.Share, random)
		if d.Partition {
			Partition(s, t, d.At, d.From, rand.New(rand.NewPCG(p.Seed, index<<8|uint64(d.At))))
		}
	}
	switch m.Values {
	case "":
	case "zeros":
		t = s.Scale(t, 0, 0)
	case "ones":
		t = s.Scale(t, 0, 1)
	default:
		return nil, fmt.Errorf("the plan has unknown initial values %q; expected zeros or ones", m.Values)
	}
	for _, a := range m.Added {
		if err := a.Apply(s, t); err != nil {
			return nil, err
		}
	}
	return t, s.Err()
}

// fold multiplies the columns of a weight, or adds the effect of a preceding bias.
func fold(s *torch.Scope, t *torch.Tensor, f Fold, before map[string]*torch.Tensor) *torch.Tensor {
	vector := s.Detach(before[f.Vector])
	if f.Matrix == "" {
		return s.Mul(t, vector)
	}
	column := s.Reshape(vector, vector.Shape()[0], 1)
	return s.Add(t, s.Reshape(s.MatMul(s.Detach(before[f.Matrix]), column), t.Shape()[0]))
}

// apply changes a dimension of a tensor; factors are its shares, or the shares of a moment.
func (d Dim) apply(s *torch.Scope, t *torch.Tensor, factors []float64, random *torch.Generator) *torch.Tensor {
	if d.Merge {
		return d.merge(s, t, factors)
	}
	size, padding := t.Shape()[d.At], 0
	index := make([]int64, len(d.From))
	for k, from := range d.From {
		index[k] = int64(from)
		if from < 0 {
			index[k] = int64(size + padding)
			padding++
		}
	}
	if padding > 0 {
		t = s.Cat(d.At, t, d.filler(s, t, padding, random))
	}
	return times(s, s.IndexSelect(t, d.At, on(s, t, torch.From(s, index, len(index)))), d.At, factors)
}

func on(s *torch.Scope, like, t *torch.Tensor) *torch.Tensor {
	info, err := like.Info()
	if err != nil {
		return t
	}
	return s.To(t, torch.Int64, info.Device)
}

// times multiplies each place of a dimension by its own factor.
func times(s *torch.Scope, t *torch.Tensor, at int, factors []float64) *torch.Tensor {
	info, err := t.Info()
	if factors == nil || err != nil {
		return t
	}
	shape := slices.Repeat([]int{1}, len(info.Shape))
	shape[at] = len(factors)
	return s.Mul(t, s.To(torch.From(s, factors, shape...), info.DType, info.Device))
}

// filler makes padding for a number of places.
func (d Dim) filler(s *torch.Scope, t *torch.Tensor, places int, random *torch.Generator) *torch.Tensor {
	info, _ := t.Info()
	shape := slices.Clone(info.Shape)
	shape[d.At] = places
	fill := s.Zeros(info.DType, info.Device, shape...)
	switch d.Pad {
	case Ones:
		s.Fill(fill, 1)
	case Mean:
		from, to := make([]int64, info.Shape[d.At]), make([]int64, places)
		one := slices.Clone(info.Shape)
		one[d.At] = 1
		mean := s.Zeros(info.DType, info.Device, one...)
		s.IndexAdd(mean, d.At, on(s, t, torch.From(s, from, len(from))), t, 1/float64(len(from)))
		return s.IndexSelect(mean, d.At, on(s, t, torch.From(s, to, len(to))))
	case Random:
		if square := meanSquare(s, t); square > 0 {
			// drawn on the host, so every device gets the same values
			host := s.Zeros(torch.Float32, torch.CPU, shape...)
			s.Normal(host, 0, math.Sqrt(square), random)
			return s.To(host, info.DType, info.Device)
		}
	}
	return fill
}

// meanSquare is the mean square of a tensor's values. It is summed here, since LibTorch rounds the sum differently for
// each number of threads.
func meanSquare(s *torch.Scope, t *torch.Tensor) float64 {
	values, err := torch.Values[float64](s.To(s.Detach(t), torch.Float64, torch.CPU))
	if err != nil || len(values) == 0 {
		return 0 // the scope holds the error
	}
	sum := 0.0
	for _, v := range values {
		sum += v * v
	}
	return sum / float64(len(values))
}

// merge adds up places.
func (d Dim) merge(s *torch.Scope, t *torch.Tensor, factors []float64) *torch.Tensor {
	info, _ := t.Info()
	shape := slices.Clone(info.Shape)
	shape[d.At] = d.Size
	into := make([]int64, len(d.From))
	own := make([]float64, len(d.From))
	for k, to := range d.From {
		into[k] = int64(max(to, 0))
		if to >= 0 {
			own[k] = 1
		}
		if to >= 0 && factors != nil {
			own[k] = factors[k]
		}
	}
	sum := s.Zeros(info.DType, info.Device, shape...)
	s.IndexAdd(sum, d.At, on(s, t, torch.From(s, into, len(into))), times(s, t, d.At, own), 1)
	return sum
}

// Grow applies the plan to a network and binds the new graph to the new tensors.
func (p *Plan) Grow(s *torch.Scope, n *graph.Network) (*graph.Network, error) {
	before := map[string]*torch.Tensor{}
	for _, t := range p.Before.Tensors {
		before[t.Name] = n.Tensor(t.Name)
	}
	after, err := p.Apply(s, before)
	if err != nil {
		return nil, err
	}
	return p.Graph.BindTensors(s, after)
}
