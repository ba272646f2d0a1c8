package learn

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// walk is a corridor with three actions: left, right, and a rest that takes no time and costs a little. The right end
// pays a reward.
type walk struct {
	at, length, steps int
	random            *rand.Rand
	fails             int // steps until an action fails; zero never fails
}

func (w *walk) Reset(random *rand.Rand) error {
	w.at, w.steps, w.random = random.IntN(w.length-1), 0, random
	return nil
}

func (w *walk) Observe() Observation {
	values := make([]float64, w.length)
	values[w.at] = 1
	return Observation{values, []bool{w.at > 0, true, true}}
}

func (w *walk) Act(action int) (Outcome, error) {
	w.steps++
	if w.steps == w.fails {
		return Outcome{}, errors.New("the floor gave way")
	}
	switch action {
	case 0:
		w.at--
	case 1:
		w.at++
	case 2:
		return Outcome{Reward: -0.02, Done: w.steps >= 60, Cut: w.steps >= 60}, nil
	}
	o := Outcome{Reward: -0.01, Elapsed: 1}
	if w.at == w.length-1 {
		o.Reward, o.Done = 1, true
	} else if w.steps >= 60 {
		o.Done, o.Cut = true, true
	}
	return o, nil
}

func agent(t require.TestingT) *MLP {
	m, err := NewMLP(MLPOptions{Inputs: 8, Actions: 3, Hidden: []int{16}, Rate: 3e-3}, rand.New(rand.NewPCG(5, 0)))
	require.NoError(t, err)
	return m
}

func rollouts(m *MLP) (all []*Rollout) {
	for k := range 4 {
		all = append(all, NewRollout(&walk{length: 8}, m.Twin(), 3, uint64(k)))
	}
	return all
}

// PPO learns the shortest path to the reward. The number of workers does not change the bits.
func TestPPOLearns(t *testing.T) {
	t.Parallel()
	var first []float64
	for _, workers := range []int{1, 3} {
		m := agent(t)
		all, random, options := rollouts(m), rand.New(rand.NewPCG(4, 4)), PPOOptions{Entropy: 0.01}
		options.EnsureDefaults()
		for range 25 {
			steps, err := PlayAll(context.Background(), all, 128, workers)
			require.NoError(t, err)
			f, err := UpdatePPO(m, steps, options, random)
			require.NoError(t, err)
			require.False(t, math.IsNaN(f.ValueLoss+f.Entropy+f.KL) || f.ClipFraction > 1)
		}
		w := &walk{length: 8}
		for start := range 7 {
			w.at = start
			for w.at < 7 {
				logits, value := m.Score(w.Observe())
				require.Equal(t, 1, Likeliest(LogProbabilities(logits, w.Observe().Mask)), "at %d", w.at)
				require.InDelta(t, 1, value, 0.3)
				w.at++
			}
		}
		weights := m.policy.Params[0]
		if first == nil {
			first = weights
		}
		require.Equal(t, first, weights)
		require.NotEmpty(t, all[0].Ended)
	}
}

// A restored rollout continues with the same bits, also in the middle of an episode.
func TestRolloutsGoOn(t *testing.T) {
	m := agent(t)
	whole := NewRollout(&walk{length: 8}, m, 3, 1)
	var states []RolloutState
	var played [][]Step
	for range 12 {
		states = append(states, whole.State())
		steps, err := whole.Play(7)
		require.NoError(t, err)
		played = append(played, steps)
	}
	for k, state := range states {
		r := NewRollout(&walk{length: 8}, m, 9, 9)
		require.NoError(t, r.Restore(state))
		for at := k; at < len(played); at++ {
			steps, err := r.Play(7)
			require.NoError(t, err)
			require.Equal(t, played[at], steps)
		}
	}
	require.True(t, states[5].Running)
	require.ErrorContains(t, NewRollout(&walk{length: 8, fails: 1}, m, 1, 1).Restore(states[5]),
		"recorded action 0 fails or ends the episode, because the environment has changed")
	require.ErrorContains(t, whole.Restore(RolloutState{}), "restore a rollout")
}

// Advantages and returns equal their definition: sums of discounted errors until the end of the episode.
func TestAdvantagesAreByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Discounts{Gamma: rapid.Float64Range(0.5, 1).Draw(t, "gamma"),
			Lambda: rapid.Float64Range(0.1, 1).Draw(t, "lambda")}
		number := rapid.Float64Range(-2, 2)
		steps := make([]Step, rapid.IntRange(1, 12).Draw(t, "steps"))
		for k := range steps {
			s := &steps[k]
			s.Value, s.Outcome.Reward = number.Draw(t, "value"), number.Draw(t, "reward")
			s.Outcome.Elapsed, s.Outcome.Done = rapid.IntRange(0, 2).Draw(t, "elapsed"), rapid.Bool().Draw(t, "done")
			s.Last = k == len(steps)-1
			if s.Last || s.Outcome.Done && rapid.Bool().Draw(t, "cut") {
				s.Bootstrap = number.Draw(t, "bootstrap")
			}
		}
		advantages, returns := Advantages(steps, d)
		for k := range steps {
			sum, weight := 0.0, 1.0
			for at := k; at < len(steps); at++ {
				s := steps[at]
				gamma, next := math.Pow(d.Gamma, float64(s.Outcome.Elapsed)), s.Bootstrap
				ends := s.Outcome.Done || s.Last
				if !ends {
					next = steps[at+1].Value
				}
				sum += weight * (s.Outcome.Reward + gamma*next - s.Value)
				if ends {
					break
				}
				weight *= gamma * d.Lambda
			}
			require.InDelta(t, sum, advantages[k], 1e-9)
			require.InDelta(t, sum+steps[k].Value, returns[k], 1e-9)
		}
	})
}

// fixed is a model whose logits and values are its parameters. It stores the last gradient.
type fixed struct {
	logits   [][]float64
	values   []float64
	gradient [][]float64
	ofValues []float64
}

func (f *fixed) Score(Observation) ([]float64, float64) { return f.logits[0], f.values[0] }

func (f *fixed) Forward([]Observation) ([][]float64, []float64) { return f.logits, f.values }

func (f *fixed) Descend(logits [][]float64, values []float64, _ float64) error {
	f.gradient, f.ofValues = logits, values
	return nil
}

// The gradient of PPO equals finite differences of its loss, with masks and with clipped ratios.
func TestPPOGradient(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 9))
	o := PPOOptions{Entropy: 0.1, ValueLoss: 0.5, Raw: true}
	o.EnsureDefaults()
	m := &fixed{values: []float64{0.3, -0.2, 1}}
	var steps []Step
	mask := []bool{true, false, true, true}
	for k := range 3 {
		row := make([]float64, 4)
		for i := range row {
			row[i] = random.NormFloat64()
		}
		m.logits = append(m.logits, row)
		s := Step{Observation: Observation{Mask: mask}, Action: []int{0, 2, 3}[k]}
		s.Log = LogProbabilities(row, mask)[s.Action] + []float64{0.1, -0.5, 0.4}[k]
		steps = append(steps, s)
	}
	advantages, returns := []float64{1, 2, -1}, []float64{0, 1, 2}
	b := newPPOBatch(steps, []int{0, 1, 2}, advantages, returns, o)
	loss := func() (sum float64) {
		for k, s := range steps {
			log := LogProbabilities(m.logits[k], mask)
			ratio := math.Exp(log[s.Action] - s.Log)
			sum -= min(ratio*advantages[k], min(max(ratio, 1-o.Clip), 1+o.Clip)*advantages[k]) / 3
			sum -= o.Entropy * Entropy(log) / 3
			sum += o.ValueLoss / 2 * (m.values[k] - returns[k]) * (m.values[k] - returns[k]) / 3
		}
		return sum
	}
	var f PPOFigures
	require.NoError(t, b.descend(m, &f))
	require.InDelta(t, 2.0/3, f.ClipFraction, 1e-12)
	got, ofValues := m.gradient, m.ofValues
	const h = 1e-6
	slope := func(v *float64) float64 {
		was := *v
		*v = was + h
		above := loss()
		*v = was - h
		below := loss()
		*v = was
		return (above - below) / (2 * h)
	}
	for k := range m.logits {
		for i := range m.logits[k] {
			require.InDelta(t, slope(&m.logits[k][i]), got[k][i], 1e-7, "logit %d of step %d", i, k)
		}
		require.InDelta(t, slope(&m.values[k]), ofValues[k], 1e-7)
	}
}

// An error of an environment names the environment. A gradient that is not finite changes no parameter.
func TestWhatLearningRefuses(t *testing.T) {
	m := agent(t)
	_, err := PlayAll(context.Background(), []*Rollout{NewRollout(&walk{length: 8}, m, 1, 1),
		NewRollout(&walk{length: 8, fails: 3}, m.Twin(), 1, 2)}, 20, 2)
	require.ErrorContains(t, err, "environment 1: action ")
	require.ErrorContains(t, err, "the floor gave way")
	before := append([]float64{}, m.policy.Params[0]...)
	m.Forward([]Observation{{Values: make([]float64, 8)}})
	require.ErrorContains(t, m.Descend([][]float64{{math.NaN(), 0, 0}}, []float64{0}, 0.5),
		"optimizer step 1: the gradient norm is not a number")
	require.Equal(t, before, m.policy.Params[0])
}

// A batch has the same scores as its single states, also if its networks run in parallel.
func TestBatchesScoreAsStates(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 7))
	m, err := NewMLP(MLPOptions{Inputs: 8, Actions: 3, Hidden: []int{256, 256}}, random)
	require.NoError(t, err)
	states := make([]Observation, 64)
	for k := range states {
		for range 8 {
			states[k].Values = append(states[k].Values, random.NormFloat64())
		}
	}
	require.GreaterOrEqual(t, len(states)*(m.policy.Count()+m.value.Count()), leastShared)
	logits, values := m.Forward(states)
	twin := m.Twin()
	for k, s := range states {
		wantLogits, want := twin.Score(s)
		require.Equal(t, wantLogits, logits[k])
		require.Equal(t, want, values[k])
	}
	require.NoError(t, m.Descend(logits, values, 1))
}
