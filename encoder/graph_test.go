package encoder_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/encoder"
	"graft/torch"
)

var shape = encoder.GraphShape{Values: 3, Hidden: 4, Rounds: 2}

// draw returns a drawing of random tokens, each fed by up to three tokens before it.
func draw(random *rand.Rand, tokens int) encoder.Drawing {
	d := encoder.Drawing{Picks: [][]int{nil}}
	for k := range tokens {
		row := make([]float64, shape.Values)
		for j := range row {
			row[j] = random.NormFloat64()
		}
		d.Values = append(d.Values, row)
		var from []int
		for range min(k, 1+random.IntN(3)) {
			from = append(from, random.IntN(k))
		}
		d.Before = append(d.Before, from)
		d.Picks = append(d.Picks, []int{k})
	}
	d.Picks = append(d.Picks, []int{0, tokens - 1})
	return d
}

func drawValues(random *rand.Rand) [][]float64 {
	var values [][]float64
	for _, slot := range shape.Slots() {
		n := 1
		for _, size := range slot.Shape {
			n *= size
		}
		one := make([]float64, n)
		for k := range one {
			one[k] = random.NormFloat64() / 2
		}
		values = append(values, one)
	}
	return values
}

// encode runs the encoder on drawings and returns the rows of each drawing's picks.
func encode(t *testing.T, values [][]float64, all []encoder.Drawing) (rows [][][]float64) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		var tensors []*torch.Tensor
		for k, slot := range shape.Slots() {
			tensors = append(tensors, torch.From(s, values[k], slot.Shape...))
		}
		d, err := encoder.NewDrawings(s, all)
		if err != nil {
			return err
		}
		flat, err := torch.Values[float64](shape.Bind(tensors).Encode(s, d))
		require.NoError(t, err)
		for g, one := range all {
			var picks [][]float64
			for k := range one.Picks {
				at := (g*d.Picks + k) * shape.Hidden
				picks = append(picks, flat[at:at+shape.Hidden])
			}
			rows = append(rows, picks)
		}
		return s.Err()
	}))
	return rows
}

// byDefinition computes the encoder in plain loops.
func byDefinition(values [][]float64, d encoder.Drawing) [][]float64 {
	affine := func(w, b, x []float64) []float64 {
		out := make([]float64, shape.Hidden)
		for i := range out {
			if b != nil {
				out[i] = b[i]
			}
			for j, v := range x {
				out[i] += w[i*len(x)+j] * v
			}
		}
		return out
	}
	mean := func(h [][]float64, set []int) []float64 {
		out := make([]float64, shape.Hidden)
		for _, k := range set {
			for j := range out {
				out[j] += h[k][j] / float64(len(set))
			}
		}
		return out
	}
	squash := func(parts ...[]float64) []float64 {
		out := make([]float64, shape.Hidden)
		for j := range out {
			for _, p := range parts {
				out[j] += p[j]
			}
			out[j] = math.Tanh(out[j])
		}
		return out
	}
	after := make([][]int, len(d.Before))
	for k, from := range d.Before {
		for _, f := range from {
			after[f] = append(after[f], k)
		}
	}
	var h [][]float64
	for _, row := range d.Values {
		h = append(h, squash(affine(values[0], values[1], row)))
	}
	for r := range shape.Rounds {
		w := values[2+4*r:]
		var next [][]float64
		for k := range h {
			next = append(next, squash(affine(w[0], w[3], h[k]), affine(w[1], nil, mean(h, d.Before[k])),
				affine(w[2], nil, mean(h, after[k]))))
		}
		h = next
	}
	var picks [][]float64
	for _, set := range d.Picks {
		picks = append(picks, mean(h, set))
	}
	return picks
}

// Each network's encoding equals the definition, alone and in a batch.
func TestEncodingIsByDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	values := drawValues(random)
	var all []encoder.Drawing
	for _, tokens := range []int{1, 2, 7, 20, 3} {
		all = append(all, draw(random, tokens))
	}
	together := encode(t, values, all)
	for g, d := range all {
		want := byDefinition(values, d)
		for k := range want {
			require.InDeltaSlice(t, want[k], together[g][k], 1e-12)
			require.InDeltaSlice(t, want[k], encode(t, values, all[g:g+1])[0][k], 1e-12)
		}
	}
}

// Gradients through neighbours and picks equal finite differences.
func TestGradientsFlow(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	values, all := drawValues(random), []encoder.Drawing{draw(random, 5), draw(random, 8)}
	sum := func(values [][]float64) (total float64) {
		for g := range all {
			for _, row := range encode(t, values, all)[g] {
				for _, v := range row {
					total += v
				}
			}
		}
		return total
	}
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		var tensors []*torch.Tensor
		for k, slot := range shape.Slots() {
			tensors = append(tensors, s.RequireGrad(torch.From(s, values[k], slot.Shape...), true))
		}
		d, err := encoder.NewDrawings(s, all)
		require.NoError(t, err)
		s.Backward(s.Sum(shape.Bind(tensors).Encode(s, d)))
		for k, slot := range shape.Slots() {
			gradient, err := torch.Values[float64](s.Grad(tensors[k]))
			require.NoError(t, err)
			const h = 1e-5
			was := values[k][0]
			values[k][0] = was + h
			up := sum(values)
			values[k][0] = was - h
			down := sum(values)
			values[k][0] = was
			require.InDelta(t, (up-down)/(2*h), gradient[0], 1e-6, slot.Name)
		}
		return s.Err()
	}))
}

func TestUnevenTokensAreRefused(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	d := draw(random, 3)
	d.Values[1] = d.Values[1][:2]
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		_, err := encoder.NewDrawings(s, []encoder.Drawing{d})
		require.ErrorContains(t, err, "token 1 of network 0 has 2 values; expected 3, as in the first token")
		return nil
	}))
}
