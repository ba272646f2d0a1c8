package evaluation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/simulation"
	"graft/simulation/treetest"
)

// A choice counts by the best sequence after it, also at decisions that are not reached.
func TestDecisionsWithinNoiseOfTheBest(t *testing.T) {
	first := follower{name: "first", weigh: func(*simulation.Tree) (func(int) ([]float64, error), error) {
		return func(int) ([]float64, error) { return []float64{0.6, 0.4}, nil }, nil
	}}
	apart := treetest.FromAccuracies(t, "apart", []float64{60}, []float64{64}, []float64{61}, []float64{50})
	// The noise of a difference is 1.15 points, and the best sequences after the first choices differ by 1.
	close := treetest.FromAccuracies(t, "close", []float64{59.3, 60.7071}, []float64{63.2071, 61.8},
		[]float64{60.7929, 62.2}, []float64{50.7071, 49.3})
	for _, c := range []struct {
		tree        *simulation.Tree
		first, draw float64
	}{{apart, 2, 1.5}, {close, 2, 2}} {
		j := newScorer(c.tree)
		for policy, want := range map[*Policy]*DecisionShare{new(Policy(first)): {c.first, 3},
			new(Uniform()): {c.draw, 3}, new(Oracle()): nil} {
			got, err := j.decisions(*policy)
			require.NoError(t, err)
			require.Equal(t, want, got, "%s in %s", (*policy).Name(), c.tree.Name)
		}
	}
	compared, err := Compare([]*simulation.Tree{apart, close}, []Candidate{{Name: "two seeds",
		Policies: []Policy{first, first}}, {Name: "best", Policies: []Policy{Oracle()}}}, "best")
	require.NoError(t, err)
	require.Equal(t, &DecisionShare{8, 12}, compared.Standing("two seeds").Decisions)
	require.InDelta(t, 2.0/3, compared.Standing("two seeds").Decisions.Share(), 1e-12)
	require.Nil(t, compared.Standing("best").Decisions)
}
