package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/simulation/learning"
	"graft/simulation/tables"
	"graft/simulation/tables/tabletest"
)

// tableFolder writes a synthetic table of two decisions with the given number of sequences, at most 16.
func tableFolder(t testing.TB, name string, sequences int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	require.NoError(t, tabletest.Folder(dir, name, 2, sequences, uint64(len(name))))
	return dir
}

func TestTreeLearningIsReadWithItsTables(t *testing.T) {
	one, two := tableFolder(t, "one", 16), tableFolder(t, "other", 16)
	path := written(t, "policy.toml", fmt.Sprintf("[tables]\nfolders = [%q]\nheld_out = [%q]\n[learn]\nbeta = 4\n",
		one, two))
	l := must(ReadTreeLearning(files.OS{}, path, []string{"policy.hidden=8", "run.seed=7", "run.seeds=3"}))
	learn, held := l.Trees()
	require.Equal(t, []string{"one", "other"}, []string{learn[0].Name, held[0].Name})
	require.Len(t, learn[0].Nodes, 5)
	require.Equal(t, []uint64{7, 8, 9}, l.Run.All())
	require.Equal(t, 30*time.Second, l.Run.Checkpoint)
	o := learning.NewOptions()
	o.Beta, o.Hidden = 4, 8
	require.Equal(t, o, l.Options())

	again := must(ReadTreeLearning(files.OS{}, written(t, "again.toml", l.Resolved()), nil))
	assert.Equal(t, l.Resolved(), again.Resolved())
	assert.Equal(t, l.Digest(), again.Digest())
	described := must(ReadTreeLearning(files.OS{}, written(t, "again.toml", Described(l)), nil))
	assert.Equal(t, l.Digest(), described.Digest())
	var sources []string
	for _, v := range Values(l) {
		sources = append(sources, v.Key+" "+v.Source.String())
	}
	for _, want := range []string{"run.seeds --set", "learn.lr default", "learn.beta " + path + ":5",
		"policy.rounds default"} {
		assert.Contains(t, sources, want)
	}
}

// The digest covers the contents of tables, not their location.
func TestTreeLearningDigest(t *testing.T) {
	one := tableFolder(t, "one", 16)
	path := written(t, "policy.toml", fmt.Sprintf("[tables]\nfolders = [%q]\n", one))
	read := func(set ...string) *TreeLearning {
		return must(ReadTreeLearning(files.OS{}, path, set))
	}
	first := read()
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(one, link))
	other := tableFolder(t, "another", 16)
	for key, same := range map[string]bool{"run.folder=x": true, "run.checkpoint_every=1s": true, "run.workers=2": true,
		"tables.folders=[\"" + link + "\"]": true,
		"run.seed=4":                        false, "run.seeds=4": false, "learn.beta=0": false,
		"policy.hidden=16":                   false,
		"learn.for=new":                      false,
		"tables.folders=[\"" + other + "\"]": false, "tables.held_out=[\"" + other + "\"]": false} {
		assert.Equal(t, same, read(key).Digest() == first.Digest(), key)
	}
	assert.Equal(t, []string{"learn.beta was 8.0 and is now 0.0"},
		differences(read("learn.beta=0", "run.folder=x"), first))
}

// The key learn.for selects the defaults; written keys override them.
func TestTreeLearningPresets(t *testing.T) {
	text := fmt.Sprintf("[tables]\nfolders = [%q]\n[learn]\n", tableFolder(t, "one", 16))
	for _, c := range []struct {
		more   string
		set    []string
		wanted learning.Options
	}{
		{"", nil, learning.NewOptions()},
		{"for = \"known\"\n", nil, learning.NewOptions()},
		{"for = \"new\"\n", nil, learning.NewTransferOptions()},
		{"", []string{"learn.for=new"}, learning.NewTransferOptions()},
		{"for = \"new\"\n", []string{"learn.for=known"}, learning.NewOptions()},
	} {
		l := must(ReadTreeLearning(files.OS{}, written(t, "a.toml", text+c.more), c.set))
		assert.Equal(t, c.wanted, l.Options(), c)
	}
	l := must(ReadTreeLearning(files.OS{},
		written(t, "a.toml", text+"for = \"new\"\nsmooth = 0\nbeta = 8\nlr = 0.5\n"), []string{"learn.pool=0"}))
	assert.Equal(t, []float64{0, 8, 0.5, 0, 0.1}, []float64{l.Learn.Smooth, l.Learn.Beta, l.Learn.Rate, l.Learn.Pool,
		l.Learn.Entropy})
	assert.Equal(t, 100, l.Learn.Steps)
	_, err := ReadTreeLearning(files.OS{}, written(t, "a.toml", text+"for = \"new\"\nsteps = 0\n"), nil)
	assert.ErrorContains(t, err, "0 means the default here, 100")
}

// All faults are reported at once. A fault of a table has the key and the position in it.
func TestTreeLearningFaultsAreAllTold(t *testing.T) {
	one, few := tableFolder(t, "one", 16), tableFolder(t, "few", 13)
	torn := tableFolder(t, "torn", 16)
	records := must(filepath.Glob(filepath.Join(torn, "*.jsonl")))
	if len(records) == 0 {
		records = must(filepath.Glob(filepath.Join(torn, "made-up*")))
	}
	require.NotEmpty(t, records)
	info := must(os.Stat(records[0]))
	require.NoError(t, os.Truncate(records[0], info.Size()-10))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(one, link))
	missing := filepath.Join(t.TempDir(), "missing")
	path := written(t, "policy.toml", fmt.Sprintf(`[run]
seed = 9223372036854775807
seeds = 2000
workers = -1
checkpoint_every = "-1s"
[tables]
folders = [%q, %q, %q, %q, %q]
held_out = [%q, %q, ""]
[policy]
hidden = -1
[learn]
for = "nev"
betta = 3
pool = 2
reward = "gold"
seed = 1
`, one, few, missing, link, torn, one+"/.", t.TempDir()))
	_, err := ReadTreeLearning(files.OS{}, path, nil)
	var list Faults
	require.ErrorAs(t, err, &list)
	for _, says := range []string{
		"seed is 9223372036854775807; must be at most 9223372036854774783",
		"seeds is 2000; must be between 1 and 1024", "workers is -1", "checkpoint_every is -1s",
		"hidden is -1", `for must be one of "known" and "new", got "nev"; did you mean new?`,
		`unknown key "betta" in learn; did you mean beta?`, "pool is 2",
		`reward must be one of`, `unknown key "seed" in learn`,
		"folders[1]: table few: 3 of its sequences are missing, such as (none, deepen:1)",
		"folders[2]: stat " + missing + ": no such file",
		"folders[3]: duplicate folder " + link + ", already listed as folders[0]; list each table once",
		"folders[4]: table " + torn + ": 1 fault",
		"held_out[0]: duplicate folder " + one + "/., already listed as folders[0]",
		"held_out[1]: ", "held_out[2]: the path is empty",
	} {
		assert.ErrorContains(t, err, says)
	}
	for _, f := range list {
		if strings.HasPrefix(f.Text, "folders[2]") {
			assert.Equal(t, 7, f.Line)
			assert.Equal(t, missing, strings.Trim(strings.TrimSpace(f.Source[f.Column-1:f.Column-1+f.Width]), `"`))
		}
	}
	copied, held := filepath.Join(t.TempDir(), "copy"), tableFolder(t, "held out", 16)
	require.NoError(t, os.CopyFS(copied, os.DirFS(one)))
	_, err = ReadTreeLearning(files.OS{}, written(t, "a.toml", fmt.Sprintf("[tables]\nfolders = [%q]\n"+
		"held_out = [%q, %q]\n", one, held, copied)), nil)
	assert.ErrorContains(t, err, "held_out[1]: the tables "+copied+" and "+one+" (folders[0]) share at least half of "+
		"their runs; keep the larger one, or merge them")
	_, err = ReadTreeLearning(files.OS{}, "", nil)
	assert.ErrorContains(t, err, "folders is empty; list the table folders to learn from")
	_, err = ReadTreeLearning(files.OS{}, written(t, "a.toml", "[tables]\nfolders = \"x\"\n"), nil)
	assert.ErrorContains(t, err, "folders must be a list")
	_, err = ReadTreeLearning(files.OS{}, written(t, "a.toml", "[tables]\n[table]\nfile = \"x\"\n"),
		[]string{"tables.folders=[\"x\"]"})
	assert.ErrorContains(t, err, `unknown key "table"; did you mean tables?`)
	assert.ErrorContains(t, err, "folders[0]: stat x: no such file")
}

// Tables with different actions can be learned from together.
func TestTreeLearningOfSeveralKindsOfActions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "wide")
	require.NoError(t, tables.Create(files.OS{}, dir,
		tables.Scenario{Name: "wide", Network: "ConvSmall", Dataset: "x", Budget: 10, Decisions: 1,
			Actions: []string{"widen:0:32", "none"}}, tables.CreateOptions{}))
	w := must(tables.Open(files.OS{}, dir, tables.WriterOptions{Lazy: true}))
	for k, a := range []string{"widen:0:32", "none"} {
		r := tables.Record{Sequence: []string{a}, Left: []float64{5}, Accuracy: []float64{0.5 + float64(k)/10},
			Seeds: []int64{1}}
		require.NoError(t, w.Append(tables.Cause{Sequence: r.Sequence, Seeds: r.Seeds}.Key(), r))
	}
	require.NoError(t, w.Close())
	l := must(ReadTreeLearning(files.OS{},
		written(t, "a.toml", fmt.Sprintf("[tables]\nfolders = [%q, %q]\n", dir, tableFolder(t, "one", 16))), nil))
	trees, _ := l.Trees()
	require.Len(t, trees, 2)
}
