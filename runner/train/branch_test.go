package train_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/results"
	"graft/runner/app"
	"graft/runner/train"
	"graft/runner/worktest"
	"graft/torch"
	"graft/trainer"
)

// changed draws keys that change the events of a job after a random time, and that may end it early.
func changed(t *testing.T, random *rand.Rand, job *config.Job, rows []trainer.Row) []string {
	budget := job.Time.Budget
	from := time.Duration(random.Int64N(int64(budget)))
	var events []string
	for _, e := range job.Time.Events {
		if e.At < from {
			events = append(events, fmt.Sprintf("{at = %q, change = %q, devices = %d}", e.At, e.Change, e.Devices))
		}
	}
	for at := from; at < budget; at += time.Duration(random.Int64N(int64(budget))) {
		change := []string{"up", "down"}[random.IntN(2)]
		events = append(events, fmt.Sprintf("{at = %q, change = %q}", at, change))
	}
	set := []string{"time.events=[" + strings.Join(events, ", ") + "]"}
	switch random.IntN(3) {
	case 0:
		set = append(set, fmt.Sprintf("time.stop=%v", budget/2+time.Duration(random.Int64N(int64(budget/2)))))
	case 1:
		require.NotEmpty(t, rows)
		set = append(set, fmt.Sprintf("time.stop_loss=%v", rows[random.IntN(len(rows))].Validation.Loss))
	}
	return set
}

// A job that branches from another run gives the same bits as the job from the beginning, for any change ahead, any
// grouping of steps, and any stop with a resume.
func TestBranchesEqualWholeJobs(t *testing.T) {
	defer func() { require.NoError(t, torch.SetThreads(1)) }()
	count := jobsDrawn
	if os.Getenv("GRAFT_LONG") != "" {
		count = longJobs
	}
	branched, early := 0, 0
	for seed := range uint64(count) {
		folder := t.TempDir()
		path := drawJob(t, seed, folder)
		random := rand.New(rand.NewPCG(seed, 5))
		source := filepath.Join(folder, "source")
		kept := attempt{threads: 1, set: []string{"checkpoint.keep_every=20ms"}}.run(t, path, source)
		plain := attempt{threads: 2, pace: seed}.run(t, path, filepath.Join(folder, "plain"))
		require.Equal(t, plain, kept, "kept checkpoints change nothing")
		if kept.failed != "" {
			continue
		}
		job, err := config.ReadJob(files.OS{}, path, nil)
		require.NoError(t, err)
		rows, _, err := trainer.ReadHistory(files.OS{}, source)
		require.NoError(t, err)
		set := changed(t, random, job, rows)
		want := attempt{threads: 1, set: set}.run(t, path, filepath.Join(folder, "whole"))
		if want.failed != "" {
			continue
		}
		a := attempt{threads: 2, pace: seed, stop: 20 * random.IntN(3), set: append(set, "run.branch="+source)}
		got := a.run(t, path, filepath.Join(folder, "branch"))
		branched += got.branched
		got.stopped, got.branched = false, 0
		require.Equal(t, want, got, "seed %d, %v", seed, set)
		if !strings.HasPrefix(kept.table, want.table) && len(want.table) < len(kept.table) {
			early++
		}
	}
	require.Greater(t, branched, count/2, "jobs that started from a kept checkpoint")
	if count == longJobs {
		require.Positive(t, early)
	}
}

// A branch is refused if the jobs differ in more than what is ahead, or if their run has changed.
func TestBranchesOfOtherJobs(t *testing.T) {
	folder := t.TempDir()
	source := filepath.Join(folder, "source")
	run := func(name string, set ...string) error {
		o := with(filepath.Join(folder, name), false, set...)
		_, err := train.Run(t.Context(), worktest.Env(files.OS{}), "", o)
		return err
	}
	require.NoError(t, run("source", "checkpoint.keep_every=30ms"))
	from := "run.branch=" + source
	for name, c := range map[string]struct {
		set  []string
		says string
	}{
		"a key":     {[]string{"optimizer.lr=0.5"}, "optimizer.lr was 0.01 and is now 0.5"},
		"the seed":  {[]string{"run.seed=2"}, "run.seed was 1 and is now 2"},
		"a budget":  {[]string{"time.budget=200ms"}, "time.budget was 150ms"},
		"no run":    {[]string{"run.branch=" + filepath.Join(folder, "none")}, "run.branch: "},
		"two seeds": {[]string{"run.branch=" + folder + "/{seed}/run"}, "only in the name of the folder"},
	} {
		err := run("refused", append([]string{from}, c.set...)...)
		require.ErrorContains(t, err, c.says, name)
		require.Equal(t, failure.Configuration, failure.CodeOf(t.Context(), err), name)
		require.NoDirExists(t, filepath.Join(folder, "refused"), name)
	}
	kept, err := results.KeptCheckpoints(files.OS{}, source)
	require.NoError(t, err)
	require.Len(t, kept, 4)
	table := filepath.Join(source, "epochs.csv")
	text, err := os.ReadFile(table)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(table, []byte(strings.Replace(string(text), "\n0,", "\n00,", 1)), 0o600))
	require.ErrorContains(t, run("torn", from), "the rows before the checkpoint have changed")
	require.NoError(t, os.WriteFile(table, text, 0o600))
	require.NoError(t, os.WriteFile(kept[3], text, 0o600))
	require.ErrorIs(t, run("damaged", from), results.ErrDamaged)
	require.NoError(t, results.RemoveKept(files.OS{}, source))
	require.NoError(t, run("beginning", from), "a job without a common checkpoint starts from the beginning")
}

// A run that continues with another configuration keeps only checkpoints of that configuration.
func TestBranchesOfChangedRuns(t *testing.T) {
	source := filepath.Join(t.TempDir(), "source")
	keep := "checkpoint.keep_every=10ms"
	stoppedAfterDecision(t, source, keep)
	before, err := results.KeptCheckpoints(files.OS{}, source)
	require.NoError(t, err)
	require.NotEmpty(t, before)
	resumed := with(source, true, append(slices.Clone(long), keep)...)
	_, err = train.Run(t.Context(), worktest.Env(files.OS{}), "", resumed)
	require.NoError(t, err)
	after, err := results.KeptCheckpoints(files.OS{}, source)
	require.NoError(t, err)
	require.NotContains(t, after, before[0])
	env := worktest.Env(files.OS{})
	branched := branches(env)
	later := append(slices.Clone(long), "time.stop=150ms", "run.branch="+source)
	_, err = train.Run(t.Context(), env, "", with(filepath.Join(t.TempDir(), "branch"), false, later...))
	require.NoError(t, err)
	require.Equal(t, 1, branched())
}

// A fault while a job branches ends it with an error or changes nothing. A second run ends with the same bytes.
func TestBranchesSurviveFaults(t *testing.T) {
	source := filepath.Join(t.TempDir(), "source")
	_, err := train.Run(t.Context(), worktest.Env(files.OS{}), "", with(source, false, "checkpoint.keep_every=30ms"))
	require.NoError(t, err)
	worktest.SurviveFaults(t, func(env *app.Env, folder string, again bool) error {
		_, missing := os.Stat(filepath.Join(folder, results.ManifestFile))
		o := with(folder, again && missing == nil, "run.branch="+source, "checkpoint.keep_every=30ms",
			`time.events=[{at = "50ms", change = "up"}, {at = "120ms", change = "down"}]`)
		_, err := train.Run(t.Context(), env, "", o)
		return err
	}, func(path string) bool { return path == "epochs.csv" || path == "events.jsonl" })
}

// branches counts the runs of an environment that start from a kept checkpoint.
func branches(e *app.Env) func() int {
	core, logs := observer.New(zap.InfoLevel)
	e.Log = zap.New(core)
	return func() int { return logs.FilterMessage("starting from a kept checkpoint").Len() }
}
