package learn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/torch/weights"
)

// choice returns an observation of random candidates, and the best action: the candidate with the largest positive
// worth, or none.
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

// A set agent learns to choose the best of any number of candidates, or none. If candidates change places, their scores
// follow.
func TestSetsChooseAmongCandidates(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	m, err := NewSet(SetOptions{Globals: 1, Features: 2, Hidden: 16, Rate: 5e-3}, random)
	require.NoError(t, err)
	var examples []Example
	for k := range 1500 {
		o, best := choice(random, k%6)
		examples = append(examples, Example{Observation: o, Actions: []int{best}})
	}
	_, err = Imitate(m, examples, ImitationOptions{Epochs: 20}, random)
	require.NoError(t, err)
	right := 0
	for range 300 {
		o, best := choice(random, 12) // more candidates than in training
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

// Gradients of sets equal finite differences, also for states that share candidates. Single states have bit-identical
// scores alone and in a batch.
func TestSetGradients(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	m, err := NewSet(SetOptions{Globals: 1, Features: 2, Hidden: 3}, random)
	require.NoError(t, err)
	for _, p := range params(m.nets[:]) { // away from the kinks of ReLU
		for at := range p {
			p[at] += 0.1 * random.NormFloat64()
		}
	}
	one, _ := choice(random, 3)
	two := Observation{Values: slices.Concat(one.Values[:3], []float64{0.4, -0.2}, one.Values[5:], []float64{1, 2})}
	three, _ := choice(random, 0)
	states := []Observation{one, two, three, one}
	weigh, ofValues := [][]float64{{0.3, -1, 0.7, 0.2}, {1, 0, -2, 0.1, 0.6}, {-0.4}, {0.5, 0, 0, 1}},
		[]float64{0.9, -0.6, 0.2, 1}
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
	require.Len(t, m.batch.rows, 2*(3+2+3), "the last state does not follow the first")
	gradients, err := m.gradients(weigh, ofValues)
	require.NoError(t, err)
	const h = 1e-6
	for k, p := range params(m.nets[:]) {
		for at := range p {
			was := p[at]
			p[at] = was + h
			above := loss()
			p[at] = was - h
			below := loss()
			p[at] = was
			require.InDelta(t, (above-below)/(2*h), gradients[k][at], 1e-8, "parameter %d, value %d", k, at)
		}
	}
	for range 2 { // after a step, embeddings are recomputed
		logits, values := m.Forward(states)
		kept := slices.Clone(values)
		for k, o := range states {
			row, value := m.Score(o)
			require.Equal(t, logits[k], row)
			require.Equal(t, kept[k], value)
		}
		m.Forward(states)
		require.NoError(t, m.Descend(weigh, ofValues, 0))
	}
}

// A restored agent continues with the same bits. A state of another kind or size is refused.
func TestSavedAgents(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	o, _ := choice(random, 4)
	for name, make := range map[string]func(hidden int) Keeper{
		"set": func(hidden int) Keeper {
			return must(NewSet(SetOptions{Globals: 1, Features: 2, Hidden: hidden}, random))
		},
		"mlp": func(hidden int) Keeper {
			return must(NewMLP(MLPOptions{Inputs: 9, Actions: 5, Hidden: []int{hidden}}, random))
		},
	} {
		step := func(m Keeper) ([]float64, float64) {
			logits, _ := m.Forward([]Observation{o})
			require.NoError(t, m.Descend(logits, []float64{1}, 0.5))
			return m.(Agent).Score(o)
		}
		one, two := make(8), make(8)
		step(one)
		var set weights.Set
		SaveModel(one, &set, "agent.")
		step(two)
		two.(Agent).Score(o)
		require.NoError(t, RestoreModel(two, &set, "agent."), name)
		for range 3 {
			want, value := step(one)
			got, same := step(two)
			require.Equal(t, append(want, value), append(got, same), name)
		}
		require.ErrorContains(t, RestoreModel(make(7), &set, "agent."), "use an agent with the same layer sizes")
		require.ErrorContains(t, RestoreModel(two, &set, "other."), "tensor other.parameter.0 is missing")
		set.Tensors[1] = weights.FromFloat64s(set.Tensors[1].Name, slices.Repeat([]float64{math.NaN()}, 8))
		require.ErrorContains(t, RestoreModel(two, &set, "agent."), "is NaN")
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
