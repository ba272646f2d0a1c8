package learning

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/simulation"
	"graft/simulation/treetest"
)

func grown(t *testing.T, trees []*simulation.Tree, o Options) *decider.Structural {
	o.EnsureDefaults()
	p, err := GrowForest(context.Background(), trees, o)
	require.NoError(t, err)
	return p
}

// An advantage is a choice's mean reward minus the mean reward of all sequences through its node.
func TestAdvantagesAreByDefinition(t *testing.T) {
	tree := treetest.RandomTrees(t, 1)[0]
	rewards := simulation.MeanAccuracies(tree.Table)
	got, at := advantages(tree, rewards), 0
	for _, n := range tree.Nodes {
		through := func(prefix []string) (mean float64) {
			count := 0.0
			for k, r := range tree.Records {
				if slices.Equal(r.Sequence[:len(prefix)], prefix) {
					mean, count = mean+rewards[k], count+1
				}
			}
			return mean / count
		}
		for k, action := range n.Actions() {
			require.InDelta(t, through(append(slices.Clip(n.Prefix), action))-through(n.Prefix), got[at+k], 1e-12)
		}
		at += len(n.Next)
	}
}

// With one choice per leaf, a tree reproduces the advantages that it learned from.
func TestFullyGrownTreesRepeatWhatTheyLearnedFrom(t *testing.T) {
	tree := treetest.RandomTrees(t, 1)[0]
	o := Options{Reward: Points, Trees: 1, Leaf: 1}
	p := grown(t, []*simulation.Tree{tree}, o)
	want, at := advantages(tree, o.allRewards([]*simulation.Tree{tree})[0]), 0
	weighed, err := p.Probabilities(simulation.Situations([]*simulation.Tree{tree})...)
	require.NoError(t, err)
	for k, n := range tree.Nodes {
		shares := decider.Softmax(want[at:at+len(n.Next)], 1)
		require.InDeltaSlice(t, shares, weighed[k], 1e-5)
		at += len(n.Next)
	}
}

// Each leaf holds at least the configured number of choices. A larger forest starts with the smaller one.
func TestForestsFollowTheirOptions(t *testing.T) {
	trees := treetest.RandomTrees(t, 4)
	small, large := grown(t, trees, Options{Trees: 3, Leaf: 5, Seed: 7}),
		grown(t, trees, Options{Trees: 5, Leaf: 5, Seed: 7})
	require.Equal(t, small.Forest, large.Forest[:3])
	require.NotEqual(t, small.Forest, grown(t, trees, Options{Trees: 3, Leaf: 5, Seed: 8}).Forest)
	choices := 0
	for _, tree := range trees {
		choices += tree.ChoiceCount()
	}
	for _, one := range large.Forest {
		leaves := 0
		for _, f := range one.Feature {
			if f < 0 {
				leaves++
			}
		}
		require.LessOrEqual(t, 5*leaves, choices)
		require.Greater(t, leaves, 1)
	}
}

// A study grows the same forest for a seed every time, and reports its regret.
func TestStudiesGrowForests(t *testing.T) {
	trees := treetest.RandomTrees(t, 3)
	book := newMemory()
	study := &Study{Trees: trees, Options: Options{Method: Forest, Trees: 20, Reward: Points}, Seeds: []uint64{1, 2},
		AtOnce: 2, Recorder: book}
	all, err := study.Run(context.Background())
	require.NoError(t, err)
	again, err := study.Run(context.Background())
	require.NoError(t, err)
	require.Len(t, book.rows, 2)
	for k, r := range all {
		require.Equal(t, r.Policy, again[k].Policy)
		regret := 0.0
		for _, tree := range trees {
			regret += regretOf(t, r.Policy, tree) / float64(len(trees))
		}
		require.InDelta(t, regret, r.Rows[0].Regret, 1e-9)
		require.False(t, math.IsNaN(r.Rows[0].Aim) || r.Rows[0].Entropy <= 0)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	_, err = study.Run(ctx)
	require.ErrorIs(t, err, ErrStopped)
}

// Hidden inputs do not affect policies of either method.
func TestHiddenInputsHaveNoEffect(t *testing.T) {
	trees := treetest.RandomTrees(t, 3)
	time := []string{"left", "steps_left", "steps_after", "wave1", "wave2"}
	for _, method := range []Method{Network, Forest} {
		for _, without := range [][]string{nil, time} {
			o := Options{Method: method, Without: without, Trees: 20, Steps: 40, Rate: 0.05}
			o.Hidden, o.Tolerance = 8, -1
			policy := learned(t, trees, o)
			seen := simulation.Situations(trees)
			before, err := policy.Probabilities(seen...)
			require.NoError(t, err)
			for k := range seen {
				seen[k].Left /= 3
			}
			after, err := policy.Probabilities(seen...)
			require.NoError(t, err)
			require.Equal(t, without != nil, slices.EqualFunc(before, after, slices.Equal[[]float64]), "%s without %v",
				method, without)
		}
	}
}

// learned returns the policy of one seed.
func learned(t *testing.T, trees []*simulation.Tree, o Options) *decider.Structural {
	all, err := (&Study{Trees: trees, Options: o, Seeds: []uint64{1}}).Run(context.Background())
	require.NoError(t, err)
	return all[0].Policy
}

// A forest whose leaves are too large for a split is refused: it would rate all choices alike.
func TestForestsWithoutSplitsAreRefused(t *testing.T) {
	o := NewOptions()
	o.Method, o.Trees, o.Leaf = Forest, 2, 1000
	_, err := GrowForest(context.Background(), treetest.RandomTrees(t, 1), o)
	require.ErrorContains(t, err, "learn.leaf is 1000")
	require.ErrorContains(t, err, "set learn.leaf to at most")
}
