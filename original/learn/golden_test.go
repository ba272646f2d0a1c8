package learn_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/files"
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
	tree, err := learn.NewPolicyTree(tab, n, learn.TreeOptions{Surgery: net2net.Options{Compat: net2net.Original}, Tokens: learn.VocabularyTokens(words, false), Discard: true})
	require.NoError(t, err)
	require.Len(t, tree.States, 21)
	return tree, words
}

// compareWeights holds a policy against a file of PyTorch's.
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

// The free-running loop is the original's, episode by episode: actions,
// probabilities, accuracies and objectives.
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
		t.Logf("measured: over %d free-running episodes probabilities apart by at most %.1g, objectives by %.1g of theirs", len(want.Episodes), probabilities, objectives)
		return nil
	}))
}
