package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/original/learn"
	"graft/original/originaltest"
)

// lessonFile writes a file of a policy that learns from a synthetic table.
func lessonFile(t testing.TB, more string) (string, originaltest.Files) {
	t.Helper()
	f := must(originaltest.Write(t.TempDir(), 2))
	return written(t, "policy.toml", fmt.Sprintf("[table]\nfile = %q\nvocabulary = %q\ncompat = \"original\"\n"+
		"discard_draws = true\n%s", f.Table, f.Vocabulary, more)), f
}

func TestLearningIsReadWithWhatItNames(t *testing.T) {
	path, _ := lessonFile(t, "[learn]\nrule = \"exact\"\n")
	l := must(readPolicyFile(path, []string{"learn.episodes=500", "run.checkpoint_every=1m"}))
	table, tree := l.LoadedTable()
	require.Len(t, table.Records, 16)
	require.Equal(t, "made-up", table.Name)
	require.Equal(t, []string{"deepen:0", "deepen:1", "deepen:2", "none"}, table.Actions)
	require.Len(t, tree.States, 5)
	require.Positive(t, tree.Discarded)
	require.Equal(t, 16, l.Embedding().Width)
	require.Nil(t, l.InitialPolicy())
	require.Equal(t, learn.Exact, l.Learn.Rule)
	require.Equal(t, 500, l.Learn.Episodes)
	require.Equal(t, 50, l.Policy.Hidden)

	again := must(readPolicyFile(written(t, "again.toml", Resolved(l)), nil))
	assert.Equal(t, Resolved(l), Resolved(again))
	assert.Equal(t, Digest(l), Digest(again))
	for key, same := range map[string]bool{"run.folder=x": true, "run.checkpoint_every=1s": true, "run.seed=4": false,
		"learn.lr=1e-3": false, "table.discard_draws=false": false} {
		other := must(readPolicyFile(path, []string{"learn.episodes=500", key}))
		assert.Equal(t, same, Digest(other) == Digest(l), key)
	}
	var sources []string
	for _, v := range Values(l) {
		sources = append(sources, v.Key+" "+v.Source.String())
	}
	assert.Contains(t, sources, "learn.episodes --set")
	assert.Contains(t, sources, "learn.lr default")
	assert.Contains(t, sources, "learn.rule "+path+":7")
}

func TestLearningFaultsAreAllTold(t *testing.T) {
	path, f := lessonFile(t, "[policy]\nhidden = -1\nweights = \"w.txt\"\nembedding = 7\n[learn]\nrule = \"exct\"\n"+
		"lr = -1\nepisods = 3\n[run]\nevery = -1\n")
	_, err := readPolicyFile(path, nil)
	var list Faults
	require.ErrorAs(t, err, &list)
	for _, says := range []string{"hidden is -1", "weights:", `did you mean exact?`, "lr is -1",
		`unknown key "episods" in learn; did you mean episodes?`, "every is -1",
		"embedding is 7, but the vectors of the vocabulary have 16 values"} {
		assert.ErrorContains(t, err, says)
	}
	_, err = readPolicyFile("", nil)
	assert.ErrorContains(t, err, "file is missing; set it to the training table")
	assert.ErrorContains(t, err, "vocabulary is missing")
	for set, says := range map[string]string{
		"table.file=none.pkl":                "none.pkl",
		"table.network=ConvNet3":             "has no token in the vocabulary",
		"table.network=ConvNet22":            "did you mean ConvNet2?",
		"table.vocabulary=" + f.Table:        "unknown extension; the name must end in .json or .ids.pkl",
		`table.actions=["deepen:0", "none"]`: "action is 2; must be below 2",
		`table.actions=["none"]`:             "leaves no choice",
		"policy.weights=none.pth":            "none.pth",
		"learn.batch=3":                      "episodes is 10000; must be a multiple of batch, 3",
	} {
		right, _ := lessonFile(t, "")
		_, err := readPolicyFile(right, []string{set})
		require.ErrorAs(t, err, &list, set)
		assert.ErrorContains(t, err, says)
	}
}

// A table's folder provides its network and its actions. Keys that contradict the folder are faults.
func TestLearningReadsFolders(t *testing.T) {
	f := must(originaltest.Write(t.TempDir(), 2))
	folder := tableFolder(t, "own", 16)
	text := fmt.Sprintf("[table]\nfile = %q\nvocabulary = %q\ncompat = \"original\"\n", folder, f.Vocabulary)
	path := written(t, "policy.toml", text)
	l := must(readPolicyFile(path, nil))
	table, tree := l.LoadedTable()
	require.Equal(t, "own", table.Name)
	require.Len(t, tree.States, 5)
	require.Equal(t, "ConvNet2", l.Table.Network)
	for _, v := range Values(l) {
		if v.Key == "table.network" {
			require.Equal(t, folder, v.Source.String())
		}
	}
	same := must(readPolicyFile(written(t, "again.toml", Resolved(l)), nil))
	require.Equal(t, Digest(l), Digest(same))
	for set, says := range map[string]string{
		"table.network=ConvNet3": "network is ConvNet3, but the table's sequences begin with ConvNet2; " +
			"remove the key network",
		`table.actions=["none","widen:0"]`: "actions is none, widen:0, but the table has the actions deepen:0, " +
			"deepen:1, deepen:2, none; remove the key actions",
		"table.file=" + t.TempDir():               "not a table folder",
		"table.file=" + tableFolder(t, "few", 10): "6 of its sequences are missing",
	} {
		_, err := readPolicyFile(path, []string{set})
		var list Faults
		require.ErrorAs(t, err, &list, set)
		assert.ErrorContains(t, err, says)
	}
	original := filepath.Join(filepath.Dir(originals), "simulations/simulation_early2")
	if _, err := os.Stat(original); err != nil {
		t.Skip("left out: the original's tables are not beside the tree")
	}
	one := must(readPolicyFile(written(t, "policy.toml", strings.ReplaceAll(text, folder, original)), nil))
	two := must(readPolicyFile(
		written(t, "policy.toml", strings.ReplaceAll(text, folder, filepath.Join(original, "data.pkl"))), nil))
	_, tree = one.LoadedTable()
	_, want := two.LoadedTable()
	require.Equal(t, want, tree)
}
