package learning

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/stat"
	"graft/simulation"
	"graft/simulation/treetest"
)

func drawLogits(t *simulation.Tree, random *rand.Rand) []float64 {
	logits := make([]float64, t.ChoiceCount())
	for k := range logits {
		logits[k] = random.NormFloat64()
	}
	return logits
}

// The gradient of the objective equals finite differences, for any beta and entropy.
func TestExactGradient(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	tree := treetest.Random(t, "a", 3, random, 0.01)
	rewards := Standard.rewards(tree.Table, 0)
	for _, a := range []objective{{}, {beta: 0.5}, {beta: 8}, {beta: 300}, {entropy: 0.7}, {beta: 4, entropy: 0.2}} {
		t.Run(fmt.Sprintf("%+v", a), func(t *testing.T) {
			logits, gradient := drawLogits(tree, random), make([]float64, tree.ChoiceCount())
			a.value(tree, logits, rewards, gradient)
			for k := range logits {
				const h = 1e-5
				was := logits[k]
				logits[k] = was + h
				up := a.value(tree, logits, rewards, make([]float64, len(logits)))
				logits[k] = was - h
				down := a.value(tree, logits, rewards, make([]float64, len(logits)))
				logits[k] = was
				require.InDelta(t, (up-down)/(2*h), gradient[k], 1e-6)
			}
		})
	}
}

// The objective equals its definition, summed over all sequences.
func TestAimIsByDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	tree := treetest.Random(t, "a", 3, random, 0.01)
	rewards, logits := Tangent.rewards(tree.Table, 0.5), drawLogits(tree, random)
	f := newFlow(tree, logits)
	var probabilities [][]float64
	for at, n := range tree.Nodes {
		probabilities = append(probabilities, f.shares[f.starts[at]:f.starts[at]+len(n.Next)])
	}
	expected, soft, total := 0.0, 0.0, 0.0
	for r, share := range tree.Spread(probabilities) {
		total += share
		expected += share * rewards[r]
		soft += share * math.Exp(3*rewards[r])
	}
	require.InDelta(t, 1, total, 1e-12)
	nothing := make([]float64, len(logits))
	require.InDelta(t, expected, objective{}.value(tree, logits, rewards, nothing), 1e-12)
	require.InDelta(t, math.Log(soft)/3, objective{beta: 3}.value(tree, logits, rewards, nothing), 1e-12)
	require.InDelta(t, expected, objective{beta: 1e-7}.value(tree, logits, rewards, nothing), 1e-6,
		"small betas come to the expected reward")
}

// The mean of many sampled gradients equals the exact gradient within its error, and so does the mean reward.
func TestSampledGradientIsUnbiased(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	tree := treetest.Random(t, "a", 2, random, 0.05)
	rewards, logits := Standard.rewards(tree.Table, 0), drawLogits(tree, random)
	exact := make([]float64, len(logits))
	value := objective{}.value(tree, logits, rewards, exact)
	for _, draws := range []int{1, 5} {
		const repeats = 20000
		sums, squares := make([]float64, len(logits)), make([]float64, len(logits))
		mean := 0.0
		for range repeats {
			one := make([]float64, len(logits))
			mean += sampled(tree, logits, rewards, draws, random, one) / repeats
			for k, g := range one {
				sums[k] += g / repeats
				squares[k] += g * g / repeats
			}
		}
		require.InDelta(t, value, mean, 5/math.Sqrt(float64(repeats*draws)))
		for k := range exact {
			deviation := math.Sqrt((squares[k] - sums[k]*sums[k]) / repeats)
			require.InDelta(t, exact[k], sums[k], 5*deviation, "%d draws, logit %d", draws, k)
		}
	}
}

// Smoothing reproduces accuracies that follow its law, and removes noise.
func TestSmoothedTables(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 1))
	clean := treetest.Random(t, "a", 4, rand.New(rand.NewPCG(9, 9)), 0)
	noisy := treetest.Random(t, "a", 4, rand.New(rand.NewPCG(9, 9)), 0)
	before, after := 0.0, 0.0
	for k := range noisy.Records {
		noisy.Records[k].Accuracy[0] += 0.01 * random.NormFloat64()
	}
	smooth, exact := simulation.Smoothed(noisy.Table), simulation.Smoothed(clean.Table)
	for k := range smooth {
		truth := clean.Records[k].Mean()
		require.InDelta(t, truth, exact[k], 0.012, "what the law cannot say is small here")
		before += math.Abs(noisy.Records[k].Mean() - truth)
		after += math.Abs(smooth[k] - truth)
	}
	require.Less(t, after, 0.7*before)
}

// Rewards have a mean of zero, a deviation of one and the order of the accuracies.
func TestRewards(t *testing.T) {
	tree := treetest.Random(t, "a", 3, rand.New(rand.NewPCG(5, 1)), 0.02)
	for _, r := range []Reward{Standard, Tangent} {
		rewards := r.rewards(tree.Table, 0)
		mean, deviation := stat.Population(rewards)
		require.InDelta(t, 0, mean, 1e-12)
		require.InDelta(t, 1, deviation, 1e-12)
		for i := range rewards {
			for j := range rewards {
				require.Equal(t, tree.Records[i].Mean() > tree.Records[j].Mean(), rewards[i] > rewards[j])
			}
		}
	}
	points := Options{Reward: Points}.allRewards([]*simulation.Tree{tree,
		treetest.Random(t, "quiet", 3, rand.New(rand.NewPCG(6, 1)), 0)})
	one, _ := stat.Population(points[0])
	require.InDelta(t, 0, one, 1e-12)
	_, loud := stat.Population(points[0])
	_, quiet := stat.Population(points[1])
	require.InDelta(t, 1, (loud*loud+quiet*quiet)/2, 1e-12)
	require.InDelta(t, (points[0][0]-points[0][1])/loud,
		(Standard.rewards(tree.Table, 0)[0] - Standard.rewards(tree.Table, 0)[1]), 1e-9)
	require.ErrorContains(t, Reward("gold").Validate(), `reward is "gold"`)
	require.Equal(t, []float64{0, 0}, Standard.scaled([]float64{3, 3}))

	o := Options{Pool: 1}
	all := o.allRewards([]*simulation.Tree{tree, treetest.Random(t, "b", 3, rand.New(rand.NewPCG(6, 1)), 0.02)})
	require.InDeltaSlice(t, all[0], all[1], 1e-12, "pooled wholly, all tables say the same")
}
