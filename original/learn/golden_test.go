package learn_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/original"
	"graft/original/learn"
	"graft/original/vocab"
	"graft/simulation/tables"
	"graft/simulation/treetest"
	"graft/torch"
	"graft/torch/weights"
)

const reference = "../../../shared/reference/adaptation"

func golden(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(reference, "golden", name))
	if err != nil {
		t.Skip("left out: the original's figures are not beside the repository")
	}
	require.NoError(t, json.Unmarshal(text, into))
}

// publishedTree reads one of the original's tables and its vocabulary.
func publishedTree(t *testing.T, table, network string) (*learn.Tree, *vocab.Vocabulary) {
	t.Helper()
	words, err := vocab.Read(files.OS{}, filepath.Join(reference, "vocabs/models.ids.pkl"))
	require.NoError(t, err)
	f, err := os.Open(filepath.Join(reference, "simulations", table, "data.pkl"))
	require.NoError(t, err)
	defer f.Close()
	tab, err := original.ReadTable(f, tables.Scenario{Name: table, Actions: treetest.FourActions}, 42)
	require.NoError(t, err)
	n, err := model.Zoo(network, model.ZooOptions{})
	require.NoError(t, err)
	tree, err := learn.NewPolicyTree(tab, n, learn.TreeOptions{Surgery: net2net.Options{Compat: net2net.Original},
		Tokens: learn.VocabularyTokens(words, false), Discard: true})
	require.NoError(t, err)
	require.Len(t, tree.States, 21)
	return tree, words
}

// compareWeights compares a policy with a file written by PyTorch.
func compareWeights(t *testing.T, l *learn.Learner, name string, tolerance float64) {
	t.Helper()
	want, err := weights.Read(files.OS{}, filepath.Join(reference, "golden", name), weights.Options{})
	require.NoError(t, err)
	got, err := l.Weights()
	require.NoError(t, err)
	require.Len(t, got.Tensors, len(want.Tensors))
	worst := 0.0
	for _, g := range got.Tensors {
		w, ok := want.Find(g.Name)
		require.True(t, ok, g.Name)
		require.Equal(t, w.Shape, g.Shape, g.Name)
		a, err := g.Float64s()
		require.NoError(t, err)
		b, err := w.Float64s()
		require.NoError(t, err)
		for k := range a {
			worst = max(worst, math.Abs(a[k]-b[k]))
		}
	}
	require.LessOrEqual(t, worst, tolerance, name)
	t.Logf("measured: %s apart by at most %.1g", name, worst)
}

// Free-running learning equals the original's, episode by episode: actions, probabilities, accuracies and objectives.
func TestLearningTrace(t *testing.T) {
	var want struct {
		Seed     int64
		Episodes []struct {
			Actions   []int
			Probs     [][]float64
			Acc       float64
			Objective float64
		}
	}
	golden(t, "learning_trace_seed42_cpu.json", &want)
	tree, words := publishedTree(t, "simulation_early2", "ConvNet2")
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		l, err := learn.NewLearner(s, tree, learn.EmbeddingOf(words), learn.PolicyOptions{}, learn.Options{}, want.Seed)
		require.NoError(t, err)
		compareWeights(t, l, "policy_init_seed42.safetensors", 0)
		probabilities, objectives := 0.0, 0.0
		for k, w := range want.Episodes {
			rows, err := l.Probabilities(1)
			require.NoError(t, err)
			lesson, err := l.Learn(1)
			require.NoError(t, err)
			require.Equal(t, w.Acc, tree.Accuracy[lesson.Ends[0]])
			state := int32(0)
			for step, a := range w.Actions {
				for b, p := range rows[state] {
					probabilities = max(probabilities, math.Abs(p-w.Probs[step][b]))
				}
				state = tree.States[state].Children[a]
			}
			require.Equal(t, -1-state, lesson.Ends[0], "episode %d: %v", k, w.Actions)
			objectives = max(objectives, math.Abs(lesson.Objectives[0]/w.Objective-1))
			require.Less(t, max(probabilities, objectives), 1e-5, "episode %d", k)
		}
		t.Logf("measured: over %d free-running episodes probabilities apart by at most %.1g, "+
			"objectives by %.1g of theirs", len(want.Episodes), probabilities, objectives)
		return nil
	}))
}

// Five updates with given actions equal the original's: probabilities, objectives, gradient norms, and the weights
// after them.
func TestForcedUpdates(t *testing.T) {
	var want struct {
		LR    float64
		Steps []struct {
			Actions   []int
			TimeLeft  []float64
			Probs     [][]float64
			Acc       float64
			Objective float64
			GradNorms map[string]float64 `json:"grad_norms"`
			ParamSums map[string]float64 `json:"param_sums_after"`
		}
	}
	golden(t, "reinforce_forced_steps.json", &want)
	tree, words := publishedTree(t, "simulation_early2", "ConvNet2")
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		l, err := learn.NewLearner(s, tree, learn.EmbeddingOf(words), learn.PolicyOptions{},
			learn.Options{LR: want.LR}, 42)
		require.NoError(t, err)
		norms := 0.0
		for k, w := range want.Steps {
			rows, err := l.Probabilities(1)
			require.NoError(t, err)
			state := int32(0)
			for step, a := range w.Actions {
				require.Equal(t, w.TimeLeft[step], tree.States[state].Left)
				require.InDeltaSlice(t, w.Probs[step], rows[state], 1e-6)
				state = tree.States[state].Children[a]
			}
			require.Equal(t, w.Acc, tree.Accuracy[-1-state])
			objective, err := l.Force(w.Actions)
			require.NoError(t, err)
			require.InEpsilon(t, w.Objective, objective, 1e-6, "step %d", k)
			gradient, err := l.Gradient()
			require.NoError(t, err)
			require.Len(t, gradient.Tensors, len(w.GradNorms))
			for _, g := range gradient.Tensors {
				_, squares := sums(t, g)
				norms = max(norms, math.Abs(math.Sqrt(squares)/w.GradNorms[g.Name]-1))
			}
			require.Less(t, norms, 1e-5, "step %d", k)
			after, err := l.Weights()
			require.NoError(t, err)
			for _, p := range after.Tensors {
				sum, _ := sums(t, p)
				require.InDelta(t, w.ParamSums[p.Name], sum, 1e-4, p.Name)
			}
		}
		t.Logf("measured: norms of gradients apart by at most %.1g of theirs", norms)
		compareWeights(t, l, "policy_after_5_forced_steps.safetensors", 1e-6)
		return nil
	}))
}

// sums returns the sum of a tensor's values, and the sum of their squares.
func sums(t *testing.T, w weights.Tensor) (sum, squares float64) {
	values, err := w.Float64s()
	require.NoError(t, err)
	for _, v := range values {
		sum, squares = sum+v, squares+v*v
	}
	return sum, squares
}
