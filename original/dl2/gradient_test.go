package dl2

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
)

// Gradients and figures of agents that learn together are averaged.
func TestMeanGradient(t *testing.T) {
	g := meanGradient([]gradient{
		{policy: [][]float64{{1, 2}, {3}}, value: [][]float64{{4}}, figures: map[string]float64{"reward": 1}},
		{policy: [][]float64{{3, 2}, {-3}}, value: [][]float64{{0}}, figures: map[string]float64{"reward": 2}},
	})
	require.Equal(t, gradient{policy: [][]float64{{2, 2}, {0}}, value: [][]float64{{2}},
		figures: map[string]float64{"reward": 1.5}}, g)
}

// Each reward rule assigns rewards to the actions of a slot, and the last action ends the slot.
func TestRewardsOfActions(t *testing.T) {
	j := &elastic.Job{}
	for rule, want := range map[string][]float64{
		SlotProgress: {5, 5, 5}, JobsLeft: {5, 5, 5}, JobProgress: {0.5, 0, 2.5},
		Discounted: {0.99 * 0.99 * 5, 0.99 * 5, 5},
	} {
		a := &agent{course: &course{}, env: &Env{gains: map[*elastic.Job]float64{j: 0.5}, reward: 5, ran: 2}}
		a.o.Reinforced.Reward = rule
		all := []transition{{}, {}, {reward: 5}}
		a.reward(all, []*elastic.Job{j, {}, nil}, 5)
		for k := range all {
			require.InDelta(t, want[k], all[k].reward, 1e-12, "%s, action %d", rule, k)
		}
	}
}

// Epsilon falls with updates, and more slowly for later agents.
func TestEpsilonFalls(t *testing.T) {
	a := &agent{course: &course{}}
	require.Zero(t, a.epsilon())
	a.o.Reinforced.EpsilonGreedy, a.o.Agents = true, 2
	require.Equal(t, 1.0, a.epsilon())
	a.updates = 500
	require.InDelta(t, 0.53788, a.epsilon(), 1e-5)
	a.id, a.updates = 1, 750
	require.InDelta(t, 0.53788, a.epsilon(), 1e-5)
	a.o.Reinforced.SameEpsilon, a.updates = true, 500
	require.InDelta(t, 0.53788, a.epsilon(), 1e-5)
}
