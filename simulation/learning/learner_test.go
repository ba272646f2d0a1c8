package learning

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/internal/files"
	"graft/simulation"
	"graft/simulation/treetest"
	"graft/torch"
	"graft/torch/weights"
)

// quick returns options with few steps.
func quick() Options {
	o := NewOptions()
	o.Hidden, o.Steps, o.Seed = 8, 40, 3
	return o
}

// withLearner calls a function with a learner, in a scope of its own.
func withLearner(t *testing.T, trees, held []*simulation.Tree, o Options, body func(l *Learner)) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		l, err := NewLearner(s, trees, held, o)
		require.NoError(t, err)
		body(l)
		return nil
	}))
}

// regretOf returns the regret of a policy's likeliest sequence in a tree, in points.
func regretOf(t *testing.T, p *decider.Structural, tree *simulation.Tree) float64 {
	weighed, err := p.Probabilities(simulation.Situations([]*simulation.Tree{tree})...)
	require.NoError(t, err)
	values := simulation.MeanAccuracies(tree.Table)
	end := tree.Follow(func(node int) int { return decider.Likeliest(weighed[node]) })
	return simulation.Points * (slices.Max(values) - values[end])
}

func advance(t *testing.T, l *Learner, steps int) {
	for range steps {
		require.NoError(t, l.Advance())
	}
}

// toTheEnd learns until the learner stops.
func toTheEnd(t *testing.T, l *Learner) {
	for l.Why == "" {
		advance(t, l, 1)
	}
}

// Learning finds the best sequence, with exact and with sampled gradients.
func TestLearningFindsTheBest(t *testing.T) {
	trees := treetest.RandomTrees(t, 1)
	for name, change := range map[string]func(o *Options){
		"exact":       func(*Options) {},
		"expectation": func(o *Options) { o.Beta, o.Steps = 0, 100 },
		"drawn":       func(o *Options) { o.Sampled, o.Steps = 32, 100 },
		"tangent":     func(o *Options) { o.Reward = Tangent },
		"entropy":     func(o *Options) { o.Entropy, o.WeightDecay = 0.01, 0.01 },
	} {
		t.Run(name, func(t *testing.T) {
			o := quick()
			change(&o)
			withLearner(t, trees, nil, o, func(l *Learner) {
				toTheEnd(t, l)
				p, err := l.Policy()
				require.NoError(t, err)
				require.Zero(t, regretOf(t, p, trees[0]))
				at := l.Step
				advance(t, l, 3)
				require.Equal(t, at, l.Step, "after the end nothing is learned")
			})
		})
	}
}

// Learning ends when the objective stops increasing.
func TestLearningConverges(t *testing.T) {
	o := quick()
	o.Steps, o.Window = 2000, 20
	withLearner(t, treetest.RandomTrees(t, 2), nil, o, func(l *Learner) {
		toTheEnd(t, l)
		require.Less(t, l.Step, 500)
		require.Contains(t, l.Why, "has not increased")
	})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Learn(ctx, treetest.RandomTrees(t, 1), nil, o, []uint64{1}, 1)
	require.ErrorIs(t, err, context.Canceled)
}

// A restored learner takes bit-identical steps, sampled or exact, with and without held-out tables.
func TestLearningGoesOnToTheBit(t *testing.T) {
	all := treetest.RandomTrees(t, 3)
	for name, change := range map[string]func(o *Options) []*simulation.Tree{
		"exact":    func(*Options) []*simulation.Tree { return nil },
		"drawn":    func(o *Options) []*simulation.Tree { o.Sampled = 4; return nil },
		"held out": func(o *Options) []*simulation.Tree { o.Every = 2; return all[2:] },
	} {
		t.Run(name, func(t *testing.T) {
			o := quick()
			held := change(&o)
			path := filepath.Join(t.TempDir(), "learner.safetensors")
			var want []byte
			withLearner(t, all[:2], held, o, func(l *Learner) {
				advance(t, l, 7)
				set, err := l.Set()
				require.NoError(t, err)
				require.NoError(t, weights.Write(files.OS{}, path, set))
				advance(t, l, 9)
				want = bytesOf(t, l)
			})
			set, err := weights.Read(files.OS{}, path, weights.Options{})
			require.NoError(t, err)
			withLearner(t, all[:2], held, o, func(l *Learner) {
				advance(t, l, 2)
				require.NoError(t, l.Restore(set))
				require.Equal(t, 7, l.Step)
				advance(t, l, 9)
				require.Equal(t, want, bytesOf(t, l))
			})
			o.Beta++
			withLearner(t, all[:2], held, o,
				func(l *Learner) { require.ErrorContains(t, l.Restore(set), "other options") })
		})
	}
	withLearner(t, all[:2], nil, quick(), func(l *Learner) {
		require.ErrorContains(t, l.Restore(&weights.Set{}), "not a learning checkpoint")
		require.ErrorContains(t, l.Restore(&weights.Set{Metadata: map[string]string{"graft.learner": "{"}}), "damaged")
		set, err := l.Set()
		require.NoError(t, err)
		set.Tensors = set.Tensors[1:]
		require.ErrorContains(t, l.Restore(set), "is missing")
	})
}

func bytesOf(t *testing.T, l *Learner) []byte {
	set, err := l.Set()
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, weights.WriteSafetensors(&b, set))
	return b.Bytes()
}

// Held-out tables are not learned from. The result is the policy that was best on them.
func TestHeldOut(t *testing.T) {
	all := treetest.RandomTrees(t, 3)
	o := quick()
	o.Every, o.Patience, o.Steps = 1, 3, 300
	withLearner(t, all[:2], all[2:], o, func(l *Learner) {
		toTheEnd(t, l)
		require.Contains(t, l.Why, "tables was best after step")
		require.Equal(t, l.BestStep+3, l.Step)
		p, err := l.Policy()
		require.NoError(t, err)
		now, err := l.current()
		require.NoError(t, err)
		require.NotEqual(t, p.Members, now.Members)
	})
}

// A seed learns the same policy, however many seeds learn at once.
func TestLearnTreesAtOnce(t *testing.T) {
	trees := treetest.RandomTrees(t, 2)
	o := quick()
	o.Steps = 15
	one, err := Learn(context.Background(), trees, nil, o, []uint64{1, 2, 3}, 1)
	require.NoError(t, err)
	three, err := Learn(context.Background(), trees, nil, o, []uint64{1, 2, 3}, 3)
	require.NoError(t, err)
	require.Equal(t, one, three)
	require.NotEqual(t, one[0].Members, one[1].Members)
	o.Beta = -1
	_, err = Learn(context.Background(), trees, nil, o, []uint64{1}, 1)
	require.ErrorContains(t, err, "beta is -1")
}

func TestOptionsThatCannotBe(t *testing.T) {
	o := NewOptions()
	o.Smooth, o.Pool, o.Steps, o.Reward, o.Hidden = 2, -1, -1, "gold", -3
	err := o.Validate()
	for _, says := range []string{"smooth is 2", "pool is -1", "steps is -1", `reward is "gold"`, "hidden is -3"} {
		require.ErrorContains(t, err, says)
	}
	require.NoError(t, NewTransferOptions().Validate())
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		_, err := NewLearner(s, nil, nil, NewOptions())
		require.ErrorContains(t, err, "got no trees")
		return nil
	}))
}

// Learning that diverges ends with an error that names the options, and does not write a policy that chooses by chance.
func TestLearningThatDiverges(t *testing.T) {
	for name, change := range map[string]func(o *Options){
		"weight decay":           func(o *Options) { o.WeightDecay = 1e200 },
		"rate and best sequence": func(o *Options) { o.Rate, o.Beta = 1e6, 1e5 },
	} {
		o := quick()
		o.Every, o.Tolerance = 1, -1
		change(&o)
		s := Study{Trees: treetest.RandomTrees(t, 1), Options: o, Seeds: []uint64{1}}
		_, err := s.Run(context.Background())
		require.ErrorContains(t, err, "training diverged: after step", name)
		require.ErrorContains(t, err, "with seed 1", name)
		require.ErrorContains(t, err, "lower learn.lr", name)
	}
}
