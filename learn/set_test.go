package learn

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// choice shows candidates with a worth; the best pays its worth, and none pays nothing.
func choice(random *rand.Rand, candidates int) (Observation, int) {
	o := Observation{Values: []float64{1}}
	best, most := candidates, 0.0
	for k := range candidates {
		worth := random.NormFloat64()
		if o.Values = append(o.Values, worth, random.NormFloat64()); worth > most {
			best, most = k, worth
		}
	}
	return o, best
}

// A set agent learns to take the best of any number of candidates, or none, and its scores follow
// candidates to other places.
func TestSetsChooseAmongCandidates(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	m, err := NewSet(SetOptions{Globals: 1, Features: 2, Hidden: 16, Rate: 5e-3}, random)
	require.NoError(t, err)
	var examples []Example
	for k := range 1500 {
		o, best := choice(random, k%6)
		examples = append(examples, Example{o, best})
	}
	_, err = Imitate(m, examples, ImitationOptions{Epochs: 20}, random)
	require.NoError(t, err)
	right := 0
	for range 300 {
		o, best := choice(random, 12) // more than it has seen
		logits, _ := m.Score(o)
		if Likeliest(LogProbabilities(logits, nil)) == best {
			right++
		}
	}
	require.Greater(t, right, 270)

	o, _ := choice(random, 3)
	before, value := m.Score(o)
	o.Values = []float64{1, o.Values[5], o.Values[6], o.Values[1], o.Values[2], o.Values[3], o.Values[4]}
	after, same := m.Score(o)
	require.InDeltaSlice(t, []float64{before[2], before[0], before[1], before[3]}, after, 1e-12)
	require.InDelta(t, value, same, 1e-12)
}

// Gradients of sets are those of finite differences.
func TestSetGradients(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	m, err := NewSet(SetOptions{Globals: 1, Features: 2, Hidden: 3, Rate: 1e-9}, random)
	require.NoError(t, err)
	one, _ := choice(random, 3)
	two, _ := choice(random, 0)
	states := []Observation{one, two}
	weigh, ofValues := [][]float64{{0.3, -1, 0.7, 0.2}, {-0.4}}, []float64{0.9, -0.6}
	loss := func() (sum float64) {
		logits, values := m.Forward(states)
		for k := range states {
			sum += ofValues[k] * values[k]
			for i, v := range logits[k] {
				sum += weigh[k][i] * v
			}
		}
		return sum
	}
	loss()
	before := loss()
	require.NoError(t, m.Descend(weigh, ofValues, 0))
	// Adam's first step moves each parameter by the rate against the sign of its gradient: the loss
	// falls by the rate times the sum of their sizes.
	sizes := 0.0
	const h = 1e-6
	for _, n := range m.networks {
		for _, p := range n.Params {
			for at := range p {
				was := p[at]
				p[at] = was + h
				above := loss()
				p[at] = was - h
				sizes += math.Abs(above-loss()) / (2 * h)
				p[at] = was
			}
		}
	}
	require.InEpsilon(t, 1e-9*sizes, before-loss(), 1e-2)
}
