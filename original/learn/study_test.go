package learn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/files/faults"
	"graft/model"
	"graft/net2net"
	"graft/original/learn"
	"graft/original/vocab"
	"graft/results"
	"graft/simulation/learning"
	"graft/simulation/tables"
	"graft/simulation/tables/tabletest"
	"graft/simulation/treetest"
	"graft/torch"
)

// madeUp returns a synthetic table of two decisions on ConvNet2, its tree, and vectors for all layers that occur.
func madeUp(t *testing.T) (*tables.Table, *learn.Tree, learn.Embedding) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	s := tables.Scenario{Name: "made-up", Budget: 400, Decisions: 2, Actions: treetest.FourActions}
	var records []tables.Record
	for k := range 16 {
		// The first action determines the time left at the second decision.
		records = append(records, tables.Record{
			Sequence: []string{treetest.FourActions[k/4], treetest.FourActions[k%4]},
			Left:     []float64{330, 315 - float64(k/4)}, Accuracy: []float64{0.5 + 0.3*r.Float64()},
			Seeds: []int64{1}})
	}
	table, err := tables.New(s, records)
	require.NoError(t, err)
	n, err := model.Zoo("ConvNet2", model.ZooOptions{})
	require.NoError(t, err)
	known := map[string]int32{}
	tree, err := learn.NewPolicyTree(table, n, learn.TreeOptions{Surgery: net2net.Options{Compat: net2net.Original},
		Discard: true, Tokens: func(n *model.Network) ([]int32, error) {
			var tokens []int32
			for _, layer := range vocab.LayerKeys(n) {
				if _, has := known[layer]; !has {
					known[layer] = int32(len(known))
				}
				tokens = append(tokens, known[layer])
			}
			return tokens, nil
		}})
	require.NoError(t, err)
	e := learn.Embedding{Width: 4}
	for range len(known) * e.Width {
		e.Values = append(e.Values, float32(r.NormFloat64()))
	}
	return table, tree, e
}

func TestTree(t *testing.T) {
	table, tree, e := madeUp(t)
	require.Len(t, tree.States, 5)
	require.Len(t, tree.Accuracy, 16)
	require.Equal(t, []int32{1, 2, 3, 4}, tree.States[0].Children)
	require.Equal(t, []int32{-5, -6, -7, -8}, tree.States[2].Children)
	require.Equal(t, 330.0, tree.States[0].Left)
	require.Equal(t, 313.0, tree.States[3].Left)
	require.Equal(t, table.Records[6].Mean(), tree.Accuracy[6])
	require.Equal(t, tree.States[0].Tokens, tree.States[4].Tokens, "none changes nothing")
	require.Len(t, tree.States[1].Tokens, len(tree.States[0].Tokens)+3)
	// ConvNet2 has 10,474 random weights. The original's surgery draws a convolution of 32 channels, a linear layer of
	// one, or nothing.
	require.Equal(t, 10_474, tree.Discarded)
	require.Equal(t, []int32{9248, 9248, 2, 0}, tree.States[0].Discarded)
	require.Greater(t, e.Rows(), 8)
}

func TestTablesThatAreNoTrees(t *testing.T) {
	table, _, _ := madeUp(t)
	n, err := model.Zoo("ConvNet2", model.ZooOptions{})
	require.NoError(t, err)
	none := func(*model.Network) ([]int32, error) { return nil, errors.New("no token for that") }
	_, err = learn.NewPolicyTree(table, n, learn.TreeOptions{Tokens: none})
	require.ErrorContains(t, err, "after the action sequence (): no token for that")
	some := func(*model.Network) ([]int32, error) { return []int32{1}, nil }
	free := *table
	free.Actions = nil
	_, err = learn.NewPolicyTree(&free, n, learn.TreeOptions{Tokens: some})
	require.ErrorContains(t, err, "the table's actions depend on the network")
	few, err := tables.New(table.Scenario, table.Records[:15])
	require.NoError(t, err)
	_, err = learn.NewPolicyTree(few, n, learn.TreeOptions{Tokens: some})
	require.ErrorContains(t, err, "1 of its sequences are missing")
	plain, err := model.Zoo("ResNet18", model.ZooOptions{})
	require.NoError(t, err)
	_, err = learn.NewPolicyTree(table, plain,
		learn.TreeOptions{Tokens: some, Surgery: net2net.Options{Compat: net2net.Original}})
	require.ErrorContains(t, err, "not found")
}

// Tokens equal the vocabulary's, after token 0 if the prefix is on.
func TestVocabularyTokens(t *testing.T) {
	n, err := model.Zoo("ConvNet2", model.ZooOptions{})
	require.NoError(t, err)
	v, err := vocab.Build([]*model.Network{n}, 2, rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	want, err := v.Tokens(n)
	require.NoError(t, err)
	plain, err := learn.VocabularyTokens(v, false)(n)
	require.NoError(t, err)
	require.EqualValues(t, fmt.Sprint(want), fmt.Sprint(plain))
	behind, err := learn.VocabularyTokens(v, true)(n)
	require.NoError(t, err)
	require.Equal(t, append([]int32{0}, plain...), behind)
}

// unsynced skips syncs to disk: these tests kill processes, not machines.
type unsynced = tabletest.Unsynced

// errKilled stands for the death of a process.
var errKilled = errors.New("killed")

// killedRecorder is a recorder whose process is killed before or after one of its calls.
type killedRecorder struct {
	*learn.Folder
	calls *int // remaining steps; each call has two
}

func (m killedRecorder) count(call func() error) error {
	*m.calls--
	if *m.calls == 0 {
		return errKilled
	}
	if err := call(); err != nil {
		return err
	}
	*m.calls--
	if *m.calls == 0 {
		return errKilled
	}
	return nil
}

func (m killedRecorder) Row(r learn.Row) error {
	return m.count(func() error { return m.Folder.Row(r) })
}
func (m killedRecorder) Episodes(first int, l learn.EpisodeResults) error {
	return m.count(func() error { return m.Folder.Episodes(first, l) })
}
func (m killedRecorder) Save(l *learn.Learner) error {
	return m.count(func() error { return m.Folder.Save(l) })
}

// studyRun is a run folder of a study that is resumed until it is done.
type studyRun struct {
	t       *testing.T
	fsys    files.FS
	path    string
	options learn.Options
	folder  *learn.Folder
}

// goOn resumes the study until the given step of the recorder, or to the end if calls is zero.
func (c *studyRun) goOn(ctx context.Context, calls int, look func(*learn.Learner)) (*learn.StudyOutcome, error) {
	table, tree, e := madeUp(c.t)
	var outcome *learn.StudyOutcome
	return outcome, torch.With(func(s *torch.Scope) (err error) {
		l, err := learn.NewLearner(s, tree, e, learn.PolicyOptions{Hidden: 6, Memory: 5, Linear: 8, Time: 3},
			c.options, 5)
		require.NoError(c.t, err)
		run, err := results.Open(c.fsys, c.path)
		if err != nil {
			run, err = results.Create(c.fsys, c.path, results.CreateOptions{}, results.Manifest{})
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, run.Close()) }()
		if c.folder, err = learn.OpenFolder(run, table, "these"); err != nil {
			return err
		}
		if _, err := c.folder.Restore(l); err != nil {
			return err
		}
		ticks := 0
		now := func() time.Time { ticks++; return time.Unix(int64(ticks), 0) }
		study := &learn.Study{Learner: l, Table: table, Every: 10, Checkpoint: 3 * time.Second, Now: now,
			Recorder: killedRecorder{c.folder, &calls}}
		if outcome, err = study.Run(ctx); err == nil && look != nil {
			look(l)
		}
		return err
	})
}

// digest resumes a study and returns all its output: its tables and its policy.
func (c *studyRun) digest(calls int) string {
	text := ""
	_, err := c.goOn(context.Background(), calls, func(l *learn.Learner) {
		set, position, err := l.Save()
		require.NoError(c.t, err)
		text = fmt.Sprintf("%s %s %x", c.folder.Digest(), position, set.Tensors)
	})
	require.NoError(c.t, err)
	return text
}

var variants = map[string]learn.Options{
	"as the original": {Episodes: 120, Temperature: 50, LREvery: 30},
	"in batches":      {Episodes: 120, Batch: 4, Baseline: 0.1, Entropy: 0.1},
	"exact":           {Episodes: 120, Rule: learn.Exact},
}

// A study that is killed repeatedly, at any call of its recorder, writes the same bits as an uninterrupted one.
func TestStudiesSurviveKills(t *testing.T) {
	r, kills := rand.New(rand.NewPCG(4, 4)), 0
	for name, o := range variants {
		want := (&studyRun{t: t, fsys: unsynced{}, path: filepath.Join(t.TempDir(), "whole"), options: o}).digest(0)
		for round := range 7 {
			c := &studyRun{t: t, fsys: unsynced{}, path: filepath.Join(t.TempDir(), fmt.Sprint(round)), options: o}
			for range 4 {
				_, err := c.goOn(context.Background(), 1+r.IntN(24), nil)
				if err == nil {
					break
				}
				require.ErrorIs(t, err, errKilled)
				kills++
			}
			require.Equal(t, want, c.digest(0), "%s, round %d", name, round)
		}
	}
	require.GreaterOrEqual(t, kills, 50)
	t.Logf("measured: %d kills", kills)
}

// After any failed write, a resumed study ends with the same result.
func TestStudiesSurviveFaultyDisks(t *testing.T) {
	o := variants["as the original"]
	want := (&studyRun{t: t, fsys: unsynced{}, path: filepath.Join(t.TempDir(), "whole"), options: o}).digest(0)
	r, failed := rand.New(rand.NewPCG(6, 6)), 0
	for _, kind := range []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash} {
		for round := range 8 {
			path := filepath.Join(t.TempDir(), fmt.Sprint(round))
			at := 1 + r.IntN(120)
			_, err := (&studyRun{t: t, fsys: faults.New(unsynced{}, at, kind), path: path,
				options: o}).goOn(context.Background(), 0, nil)
			if err != nil {
				failed++
			}
			require.Equal(t, want, (&studyRun{t: t, fsys: unsynced{}, path: path, options: o}).digest(0),
				"%v at %d, which gave %v", kind, at, err)
		}
	}
	require.Greater(t, failed, 16)
}

// A cancelled study returns an error, and continues to the same result.
func TestStudiesStop(t *testing.T) {
	o := variants["as the original"]
	want := (&studyRun{t: t, fsys: unsynced{}, path: filepath.Join(t.TempDir(), "whole"), options: o}).digest(0)
	c := &studyRun{t: t, fsys: unsynced{}, path: filepath.Join(t.TempDir(), "stopped"), options: o}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := c.goOn(stopped, 0, nil)
	require.ErrorIs(t, err, learning.ErrStopped)
	require.Equal(t, want, c.digest(0))
	require.Equal(t, want, c.digest(0), "one that is done stays done")
}

func TestStudiesGoOnUnderTheirConditionsOnly(t *testing.T) {
	c := &studyRun{t: t, fsys: unsynced{}, path: filepath.Join(t.TempDir(), "run"), options: variants["exact"]}
	c.digest(0)
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		table, tree, e := madeUp(t)
		l, err := learn.NewLearner(s, tree, e, learn.PolicyOptions{}, learn.Options{}, 1)
		require.NoError(t, err)
		run, err := results.Open(unsynced{}, c.path)
		require.NoError(t, err)
		defer run.Close()
		folder, err := learn.OpenFolder(run, table, "others")
		require.NoError(t, err)
		_, err = folder.Restore(l)
		require.ErrorContains(t, err, "have changed since the study was started")
		return nil
	}))
}

func TestStudyOutcome(t *testing.T) {
	c := &studyRun{t: t, fsys: unsynced{}, path: filepath.Join(t.TempDir(), "run"),
		options: learn.Options{Rule: learn.Exact, Reward: learn.RewardStandard, LR: 0.01, Episodes: 300}}
	o, err := c.goOn(context.Background(), 0, nil)
	require.NoError(t, err)
	table, _, _ := madeUp(t)
	best := 0
	for k := range table.Records {
		if table.Records[k].Mean() > table.Records[best].Mean() {
			best = k
		}
	}
	require.Equal(t, table.Records[best].Sequence, o.Best)
	require.Equal(t, table.Find(o.Greedy...).Mean(), o.Accuracy)
	require.Equal(t, 300, o.Episodes)
	require.Equal(t, 16, o.Records)
	require.LessOrEqual(t, o.Rank, 3, "a hill beside the highest will do")
	learning, err := results.ReadStream(files.OS{}, filepath.Join(c.path, "learning.csv"))
	require.NoError(t, err)
	require.Equal(t, 30, learning.Rows)
	greedy, err := learning.Strings("greedy")
	require.NoError(t, err)
	require.Equal(t, tables.Sequence(o.Greedy), greedy[29])
	expected, err := learning.Floats("expected_accuracy")
	require.NoError(t, err)
	require.InDelta(t, o.Expected, expected[29], 1e-12)
	require.Greater(t, expected[29], expected[0])
}
