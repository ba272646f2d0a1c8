package evaluation

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/simulation"
	"graft/simulation/learning"
	"graft/simulation/tables"
	"graft/simulation/treetest"
)

func TestVerdicts(t *testing.T) {
	tree := treetest.FromAccuracies(t, "a", []float64{60}, []float64{64}, []float64{61}, []float64{50})
	policies, err := Baselines([]*simulation.Tree{tree})
	require.NoError(t, err)
	scores, err := Evaluate([]*simulation.Tree{tree}, policies...)
	require.NoError(t, err)
	got := map[string][]float64{}
	for _, v := range scores {
		require.InDelta(t, 0.64, v.Best, 1e-12)
		require.InDelta(t, 0.5875, v.Mean, 1e-12)
		require.InDelta(t, 0.50, v.Never, 1e-12)
		got[v.Policy] = []float64{v.Regret, v.Gain, v.Rank}
	}
	for name, want := range map[string][]float64{
		"never": {14, 0, 4}, "random": {5.25, 8.75, 2.5}, "always deepen:0": {4, 10, 3}, "one step ahead": {0, 14, 1},
		"best fixed": {0, 14, 1}, "best fixed, smoothed": {0, 14, 1}, "optimum": {0, 14, 1},
	} {
		require.InDeltaSlice(t, want, got[name], 1e-9, name)
	}
	require.Len(t, got, 7)
}

// One step ahead misses the optimum if the best action now excludes a better sequence later.
func TestOneStepIsGreedy(t *testing.T) {
	tree := treetest.FromAccuracies(t, "a", []float64{55}, []float64{60}, []float64{70}, []float64{58})
	scores, err := Evaluate([]*simulation.Tree{tree}, OneStep())
	require.NoError(t, err)
	require.Equal(t, []string{"deepen:0", "none"}, scores[0].Sequence)
	require.InDelta(t, 10, scores[0].Regret, 1e-9)
}

// The range of ranks covers the ranks that noise can exchange.
func TestTiesInsideTheNoise(t *testing.T) {
	// Seeds are 1.4 points apart, and the better seed alternates. A mean of two has a deviation of 0.82, and a
	// difference of means has 1.15.
	tree := treetest.FromAccuracies(t, "a", []float64{59.3, 60.7071}, []float64{63.2071, 61.8},
		[]float64{60.1, 61.5071}, []float64{50.7071, 49.3})
	noise, source := Noise(tree.Table)
	require.Equal(t, NoiseOfSeeds, source)
	require.InDelta(t, math.Sqrt(2.0/3), noise, 0.01)
	same := treetest.FromAccuracies(t, "a", []float64{59, 61}, []float64{62, 64}, []float64{60, 62}, []float64{49, 51})
	noise, source = Noise(same.Table)
	require.Equal(t, NoiseOfSeeds, source)
	require.InDelta(t, 0, noise, 1e-9, "a seed that is better for all moves none past another")
	scores, err := Evaluate([]*simulation.Tree{tree}, Constant("both", "deepen:0"), Constant("never", tables.None),
		Oracle())
	require.NoError(t, err)
	for k, want := range [][3]int{{3, 2, 3}, {4, 4, 4}, {1, 1, 1}} {
		v := scores[k]
		require.Equal(t, want, [3]int{int(v.Rank), v.From, v.To}, v.Policy)
	}
}

// The range of ranks of a policy that draws contains its rank, even if its mean accuracy lies in a gap.
func TestRanksOfDraws(t *testing.T) {
	tree := treetest.FromAccuracies(t, "a", []float64{90, 90.01}, []float64{89, 89.01}, []float64{88, 88.01},
		[]float64{10, 10.01})
	scores, err := Evaluate([]*simulation.Tree{tree}, Uniform())
	require.NoError(t, err)
	require.Equal(t, []float64{2.5, 2, 3}, []float64{scores[0].Rank, float64(scores[0].From), float64(scores[0].To)},
		"not the ranks beside the mean accuracy, 4 and 3")
}

// Without several seeds, noise is estimated from sequences of the same actions. Without such sequences, it is unknown.
func TestNoiseOfOrders(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 8))
	tree := treetest.Random(t, "a", 4, random, 0)
	for k := range tree.Records {
		r := &tree.Records[k]
		r.Accuracy[0] = 0.5 + 0.02*random.NormFloat64()
	}
	noise, source := Noise(tree.Table)
	require.Equal(t, NoiseOfOrders, source)
	require.InDelta(t, 2, noise, 0.4)
	_, source = Noise(treetest.FromAccuracies(t, "a", []float64{1}, []float64{2}, []float64{3}, []float64{4}).Table)
	require.Equal(t, NoiseUnknown, source)
}

// The noise floor is zero without noise, and grows with it.
func TestFloor(t *testing.T) {
	tree, random := treetest.Random(t, "a", 3, rand.New(rand.NewPCG(2, 8)), 0.01), rand.New(rand.NewPCG(3, 8))
	require.Zero(t, OracleRegret(tree.Table, 0, 10, random))
	low, high := OracleRegret(tree.Table, 0.5, 2000, random), OracleRegret(tree.Table, 2, 2000, random)
	require.Positive(t, low)
	require.Greater(t, high, 2*low)
	require.Less(t, high, 2*math.Sqrt(2*math.Log(27))+0.2, "no more than the most of so many draws")
}

func TestSummaries(t *testing.T) {
	seeds := [][]Score{{{Scenario: "a", Regret: 1, Rank: 2, Of: 8}, {Scenario: "b", Regret: 3, Rank: 6, Of: 8}},
		{{Scenario: "a", Rank: 1, Of: 8}, {Scenario: "b", Rank: 1, Of: 8}}}
	s := Summarize("policy", seeds)
	require.Equal(t, 1.0, s.Regret.Mean)
	require.Equal(t, []any{2, 0.75, 1, 3.0, "b"}, []any{s.Seeds, s.TopFive, s.LowHalf, s.Worst, s.WorstOne})
}

// Tuning selects the options that learn something.
func TestTune(t *testing.T) {
	o := quick()
	idle := o
	idle.Steps, idle.Rate = 1, 1e-9
	best, regrets, err := Tune(context.Background(), treetest.RandomTrees(t, 4), []learning.Options{idle, o},
		[]uint64{1, 2}, 2)
	require.NoError(t, err)
	require.Len(t, regrets, 2)
	require.Equal(t, 1, best, regrets)
}

// A policy is followed from the root. The probability of a sequence is the product of the probabilities of its choices.
func TestChoosersOfPolicies(t *testing.T) {
	tree := treetest.RandomTrees(t, 1)[0]
	p, err := decider.NewStructural(decider.StructuralShape{}, decider.Scale{}, decider.Scale{}, 1)
	require.NoError(t, err)
	weighed, err := p.Probabilities(simulation.Situations([]*simulation.Tree{tree})...)
	require.NoError(t, err)
	shares := tree.Spread(weighed)
	total := 0.0
	for k, r := range tree.Records {
		product, at := 1.0, 0
		for _, a := range r.Sequence {
			choice := slices.Index(tree.Actions, a)
			product *= weighed[at][choice]
			at = tree.Nodes[at].Next[choice]
		}
		require.InDelta(t, product, shares[k], 1e-12)
		total += shares[k]
	}
	require.InDelta(t, 1, total, 1e-12)
	greedy, err := Structural("greedy", p).Distribution(tree)
	require.NoError(t, err)
	first := slices.Index(weighed[0], slices.Max(weighed[0]))
	require.Equal(t, tree.Actions[first], tree.Records[slices.Index(greedy, 1)].Sequence[0])
	_, err = Evaluate([]*simulation.Tree{tree}, Constant("widen", "widen:1"))
	require.ErrorContains(t, err, "evaluate policy widen on table tree 0: the table has no sequence "+
		"that consists only of widen:1")
}

// quick returns options with few steps.
func quick() learning.Options {
	o := learning.NewOptions()
	o.Hidden, o.Steps, o.Seed = 8, 40, 3
	return o
}
