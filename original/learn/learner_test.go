package learn_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/original/learn"
	"graft/torch"
	"graft/torch/weights"
)

// fourByThree is a tree of all sequences of three decisions among four actions. It has the shape of the original's:
// three blocks that can be deepened, and none.
func fourByThree() (*learn.Tree, learn.Embedding) {
	r := rand.New(rand.NewPCG(3, 3))
	tree := &learn.Tree{Actions: 4}
	type node struct{ blocks, depth int }
	word := func(blocks int) []int32 {
		tokens := []int32{1, 2, 3}
		for ; blocks > 0; blocks /= 4 {
			tokens = append(tokens, int32(4+blocks%4), 2, 3)
		}
		return append(tokens, 7, 3)
	}
	list := []node{{0, 0}}
	for k := 0; k < len(list); k++ {
		s := learn.TreeState{Tokens: word(list[k].blocks), Left: 330 - 11*float64(list[k].depth) - r.Float64(),
			Budget: 400}
		for a := range 4 {
			if list[k].depth == 2 {
				s.Children = append(s.Children, int32(-1-len(tree.Accuracy)))
				tree.Accuracy = append(tree.Accuracy, 0.55+0.2*r.Float64())
				continue
			}
			s.Children = append(s.Children, int32(len(list)))
			list = append(list, node{4*list[k].blocks + a, list[k].depth + 1})
		}
		tree.States = append(tree.States, s)
	}
	e := learn.Embedding{Width: 16}
	for range 18 * 16 {
		e.Values = append(e.Values, float32(r.NormFloat64()))
	}
	return tree, e
}

func learner(t *testing.T, s *torch.Scope, o learn.Options) *learn.Learner {
	tree, e := fourByThree()
	l, err := learn.NewLearner(s, tree, e, learn.PolicyOptions{}, o, 7)
	require.NoError(t, err)
	return l
}

func inScope(t *testing.T, body func(s *torch.Scope)) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		body(s)
		return nil
	}))
}

// Published policies give the recorded probabilities at each temperature.
func TestPublishedPolicies(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(reference, "golden/policy_forward.json"))
	if err != nil {
		t.Skip("left out: the original's figures are not beside the repository")
	}
	var want map[string]map[string]struct {
		TimeLeft, TotalTime float64
		IDs                 []int32
		Probabilities       []float64
		Hot                 []float64 `json:"probabilities_training_T10"`
		Hottest             []float64 `json:"probabilities_training_T1000"`
	}
	require.NoError(t, json.Unmarshal(text, &want))
	worst := 0.0
	for run, states := range want {
		set, err := weights.Read(files.OS{}, filepath.Join(reference, "policies", run, "agent.finalmodel.pth"),
			weights.Options{})
		if errors.Is(err, fs.ErrNotExist) {
			t.Logf("left out: the policy %s was not published", run)
			continue
		}
		require.NoError(t, err)
		rows, _ := set.Find("encoder.embedder.weight")
		e := learn.Embedding{Width: int(rows.Shape[1])}
		e.Values, err = rows.Float32s()
		require.NoError(t, err)
		for name, state := range states {
			tree := &learn.Tree{Actions: 4, Accuracy: []float64{0, 0, 0, 0}, States: []learn.TreeState{
				{Tokens: state.IDs, Left: state.TimeLeft, Budget: state.TotalTime, Children: []int32{-1, -2, -3, -4}}}}
			inScope(t, func(s *torch.Scope) {
				l, err := learn.NewLearner(s, tree, e, learn.PolicyOptions{}, learn.Options{}, 1)
				require.NoError(t, err)
				require.NoError(t, l.Begin(set))
				for temperature, p := range map[float64][]float64{1: state.Probabilities, 10: state.Hot,
					1000: state.Hottest} {
					got, err := l.Probabilities(temperature)
					require.NoError(t, err)
					for k := range p {
						worst = max(worst, math.Abs(p[k]-got[0][k]))
					}
				}
			})
			require.Less(t, worst, 1e-6, "%s %s", run, name)
		}
	}
	t.Logf("measured: probabilities of published policies apart by at most %.1g", worst)
}

// A learner that is saved and restored continues bit for bit, with every rule.
func TestSavedLearnersGoOn(t *testing.T) {
	for name, o := range map[string]learn.Options{
		"as the original": {Temperature: 10},
		"exact":           {Rule: learn.Exact, Reward: learn.RewardStandard},
		"all there is":    {Reward: learn.RewardAccuracy, Baseline: 0.05, Entropy: 0.01, Batch: 5, LREvery: 20},
	} {
		inScope(t, func(s *torch.Scope) {
			whole := learner(t, s, o)
			all, err := whole.Learn(60)
			require.NoError(t, err)

			first := learner(t, s, o)
			before, err := first.Learn(35)
			require.NoError(t, err)
			set, text, err := first.Save()
			require.NoError(t, err)
			second := learner(t, s, o)
			_, err = second.Learn(10)
			require.NoError(t, err)
			require.NoError(t, second.Restore(set, text))
			require.Equal(t, 35, second.Episodes())
			after, err := second.Learn(25)
			require.NoError(t, err)

			require.Equal(t, all.Objectives, append(before.Objectives, after.Objectives...), name)
			require.Equal(t, all.Ends, append(before.Ends, after.Ends...), name)
			a, textA, err := whole.Save()
			require.NoError(t, err)
			b, textB, err := second.Save()
			require.NoError(t, err)
			require.Equal(t, a, b, name)
			require.JSONEq(t, string(textA), string(textB), name)
		})
	}
}

func TestDamagedSavesAreRefused(t *testing.T) {
	inScope(t, func(s *torch.Scope) {
		l := learner(t, s, learn.Options{})
		set, text, err := l.Save()
		require.NoError(t, err)
		require.ErrorContains(t, l.Restore(set, []byte("{")), "restore the policy")
		require.ErrorContains(t, l.Restore(&weights.Set{}, text), "is missing")
		short := &weights.Set{Tensors: set.Tensors[:len(set.Tensors)-1]}
		require.ErrorContains(t, l.Restore(short, text), "tensor generator is missing")
		require.ErrorContains(t, l.Begin(set), "tensor encoder.encoder.weight_ih_l0 is missing")
		other, err := weights.FromFloat32s("encoder.encoder.bias_ih_l0", []int64{1}, []float32{1})
		require.NoError(t, err)
		require.ErrorContains(t, l.Begin(&weights.Set{Tensors: []weights.Tensor{other}}),
			"has shape [1], expected [200]")
		again, _, err := l.Save()
		require.NoError(t, err)
		require.Equal(t, set, again, "what is refused changes nothing")
	})
}

// The exact gradient finds nearly the best sequence of a table, and episodes improve the policy.
func TestLearnersLearn(t *testing.T) {
	inScope(t, func(s *torch.Scope) {
		tree, _ := fourByThree()
		best := slices.Max(tree.Accuracy)
		exact := learner(t, s, learn.Options{Rule: learn.Exact, Reward: learn.RewardStandard, LR: 1e-3, Episodes: 500})
		_, err := exact.Learn(1000)
		require.NoError(t, err)
		require.True(t, exact.Done())
		require.Equal(t, 500, exact.Episodes(), "no more than all")
		o, err := exact.Expect()
		require.NoError(t, err)
		require.Greater(t, tree.Accuracy[o.Greedy], best-0.02, "a hill beside the highest will do")
		require.InDelta(t, tree.Accuracy[o.Greedy], o.Accuracy, 0.005)

		plain := learner(t, s, learn.Options{})
		before, err := plain.Expect()
		require.NoError(t, err)
		lesson, err := plain.Learn(1000)
		require.NoError(t, err)
		require.Len(t, lesson.Ends, 1000)
		after, err := plain.Expect()
		require.NoError(t, err)
		require.Greater(t, after.Accuracy, before.Accuracy)
	})
}

// Rates and temperatures fall at the same episodes as in the original.
func TestDecays(t *testing.T) {
	inScope(t, func(s *torch.Scope) {
		for hot, episodes := range map[float64]int{10: 22, 100: 44, 1000: 66} {
			l := learner(t, s, learn.Options{Temperature: hot})
			_, err := l.Learn(episodes - 1)
			require.NoError(t, err)
			require.Greater(t, l.Heat(), 1.0)
			_, err = l.Learn(1)
			require.NoError(t, err)
			require.Equal(t, 1.0, l.Heat())
		}
		l := learner(t, s, learn.Options{})
		_, err := l.Learn(499)
		require.NoError(t, err)
		require.Equal(t, 1e-4, l.Rate())
		_, err = l.Learn(1)
		require.NoError(t, err)
		require.InDelta(t, 0.99e-4, l.Rate(), 1e-15)
	})
}

func TestRewards(t *testing.T) {
	inScope(t, func(s *torch.Scope) {
		tree := &learn.Tree{Actions: 2, Accuracy: []float64{0.25, 0.75}, States: []learn.TreeState{
			{Tokens: []int32{1}, Left: 1, Budget: 2, Children: []int32{-1, -2}}}}
		_, e := fourByThree()
		for kind, want := range map[string][2]float64{
			learn.RewardTangent: {41.421356, 241.42136}, learn.RewardAccuracy: {0.25, 0.75},
			learn.RewardStandard: {-1, 1}} {
			l, err := learn.NewLearner(s, tree, e, learn.PolicyOptions{Precise: true}, learn.Options{Reward: kind}, 1)
			require.NoError(t, err)
			o, err := l.Expect()
			require.NoError(t, err)
			require.InDelta(t, o.Ends[0]*want[0]+o.Ends[1]*want[1], o.Reward, 1e-4, kind)
		}
		tree.Accuracy[1] = 1.5
		_, err := learn.NewLearner(s, tree, e, learn.PolicyOptions{}, learn.Options{}, 1)
		require.ErrorContains(t, err, "end 1 has accuracy 1.5")
	})
}

func TestLearnOptions(t *testing.T) {
	o := learn.Options{Rule: "guess", Reward: "praise", Episodes: -1, Batch: 3, LR: math.NaN(), Baseline: 2,
		TemperatureDecay: 1.5}
	o.EnsureDefaults()
	err := o.Validate()
	for _, says := range []string{`rule is "guess"`, `reward is "praise"`, "episodes is -1", "lr is NaN",
		"baseline is 2", "temperature_decay is 1.5"} {
		require.ErrorContains(t, err, says)
	}
	o = learn.Options{Rule: learn.Exact, Batch: 2, Episodes: 10}
	o.EnsureDefaults()
	require.ErrorContains(t, o.Validate(), "remove baseline and batch, which apply only to reinforce")
	o = learn.Options{Batch: 3, Episodes: 10}
	o.EnsureDefaults()
	require.ErrorContains(t, o.Validate(), "must be a multiple of batch, 3")
	p := learn.PolicyOptions{Hidden: -1, Linear: 5000}
	p.EnsureDefaults()
	require.ErrorContains(t, p.Validate(), "hidden is -1")
	require.ErrorContains(t, p.Validate(), "linear is 5000")
	require.Equal(t, 16, p.Memory)
}
