package learn

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// REINFORCE and actor-critic learn the path to the reward.
func TestPolicyGradientsLearn(t *testing.T) {
	t.Parallel()
	for _, critic := range []bool{false, true} {
		m := agent(t)
		all, o := rollouts(m), GradientOptions{Critic: critic, Entropy: 0.003, MaxNorm: 5}
		if !critic {
			o.Lambda = 1
		}
		for range 150 {
			steps, err := PlayAll(context.Background(), all, 128, 1)
			require.NoError(t, err)
			require.NoError(t, UpdateGradient(m, steps, o))
		}
		w := &walk{length: 8}
		for w.at = 0; w.at < 7; w.at++ {
			logits, _ := m.Score(w.Observe())
			require.Equal(t, 1, Likeliest(LogProbabilities(logits, w.Observe().Mask)), "at %d, critic %t", w.at, critic)
		}
	}
}

// Imitation reproduces its examples, and refuses an action that a mask forbids.
func TestImitation(t *testing.T) {
	m, random := agent(t), rand.New(rand.NewPCG(2, 2))
	var examples []Example
	for k := range 300 {
		w := &walk{length: 8, at: k % 7}
		examples = append(examples, Example{Observation: w.Observe(), Actions: []int{[]int{2, 1, 0, 1, 0, 1, 2}[k%7]}})
	}
	first, err := Imitate(m, examples, ImitationOptions{}, random)
	require.NoError(t, err)
	last, err := Imitate(m, examples, ImitationOptions{Epochs: 40}, random)
	require.NoError(t, err)
	require.Less(t, last, first/5)
	for _, e := range examples[:7] {
		logits, _ := m.Score(e.Observation)
		require.Equal(t, e.Actions[0], Likeliest(LogProbabilities(logits, e.Mask)))
	}
	_, err = Imitate(m, []Example{{Observation: Observation{make([]float64, 8), []bool{false, true, true}},
		Actions: []int{0}}}, ImitationOptions{}, random)
	require.ErrorContains(t, err, "example 0 takes action 0, but its mask forbids")
}
