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

// A job that forks from another run gives the same bits as the job from the beginning, for any change ahead, any
// grouping of steps, and any stop with a resume.
func TestForksEqualWholeJobs(t *testing.T) {
	defer func() { require.NoError(t, torch.SetThreads(1)) }()
	count := jobsDrawn
	if os.Getenv("GRAFT_LONG") != "" {
		count = longJobs
	}
	forked := 0
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
		for k := range 3 {
			set := changed(t, random, job, rows)
			want := attempt{threads: 1, set: set}.run(t, path, filepath.Join(folder, fmt.Sprint("whole", k)))
			if want.failed != "" {
				continue
			}
			a := attempt{threads: 2, pace: seed, stop: 20 * random.IntN(3), set: append(set, "run.fork="+source)}
			got := a.run(t, path, filepath.Join(folder, fmt.Sprint("fork", k)))
			forked += got.forked
			got.stopped, got.forked = false, 0
			require.Equal(t, want, got, "seed %d, %v", seed, set)
		}
	}
	require.Greater(t, forked, count, "jobs that started from a kept checkpoint")
}

// A fork stops where the same job from the beginning stops, for stops just after each kept checkpoint.
func TestForksStopInTime(t *testing.T) {
	folder := t.TempDir()
	source := filepath.Join(folder, "source")
	run := func(name string, set ...string) string {
		r, err := train.Run(t.Context(), worktest.Env(files.OS{}), "", with(filepath.Join(folder, name), false, set...))
		require.NoError(t, err)
		events, err := os.ReadFile(filepath.Join(folder, name, "events.jsonl"))
		require.NoError(t, err)
		return r.Outcome.Digest + string(events)
	}
	run("source", "checkpoint.keep_every=10ms")
	for ms := 20; ms < 150; ms += 7 {
		stop := fmt.Sprintf("time.stop=%dms", ms)
		require.Equal(t, run(fmt.Sprint("w", ms), stop), run(fmt.Sprint("b", ms), stop, "run.fork="+source), stop)
	}
}

// A run that forks from a run with another LibTorch is marked, and so are forks from the marked run.
func TestForksFromAnotherLibTorchAreMarked(t *testing.T) {
	folder := t.TempDir()
	source := filepath.Join(folder, "source")
	run := func(name string, set ...string) results.Manifest {
		o := with(filepath.Join(folder, name), false, set...)
		_, err := train.Run(t.Context(), worktest.Env(files.OS{}), "", o)
		require.NoError(t, err)
		m, err := results.ReadManifest(files.OS{}, filepath.Join(folder, name))
		require.NoError(t, err)
		return m
	}
	m, keep := run("source", "checkpoint.keep_every=30ms"), "checkpoint.keep_every=30ms"
	require.False(t, m.OtherLibTorch)
	require.False(t, run("equal", keep, "run.fork="+source).OtherLibTorch)
	path := filepath.Join(source, results.ManifestFile)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	changed := strings.Replace(string(text), m.LibTorch, "0.1.0", 1)
	require.NoError(t, os.WriteFile(path, []byte(changed), 0o600))
	events := `time.events=[{at = "50ms", change = "up"}, {at = "120ms", change = "down"}]`
	forked := run("forked", keep, events, "run.fork="+source)
	require.True(t, forked.OtherLibTorch)
	require.Equal(t, m.LibTorch, forked.LibTorch)
	require.True(t, run("again", events, "run.fork="+filepath.Join(folder, "forked")).OtherLibTorch)
}

// A fork is refused if the jobs differ in more than what is ahead, or if their run has changed.
func TestForksOfOtherJobs(t *testing.T) {
	folder := t.TempDir()
	source := filepath.Join(folder, "source")
	run := func(name string, set ...string) error {
		o := with(filepath.Join(folder, name), false, set...)
		_, err := train.Run(t.Context(), worktest.Env(files.OS{}), "", o)
		return err
	}
	require.NoError(t, run("source", "checkpoint.keep_every=30ms"))
	from := "run.fork=" + source
	for name, c := range map[string]struct {
		set  []string
		says string
	}{
		"the best network": {[]string{"train.keep_best=true"}, "train.keep_best was false and is now true"},
		"failed actions":   {[]string{"adapt.on_error=stop"}, "adapt.on_error was \"skip\" and is now \"stop\""},
		"processes":        {[]string{"parallel.on=true"}, "parallel.on is true"},
		"its own folder":   {[]string{"run.fork=" + filepath.Join(folder, "refused")}, "the run folder of this job"},
		"a folder":         {[]string{"run.fork=" + folder}, "is not the run folder of a job"},
		"a key":            {[]string{"optimizer.lr=0.5"}, "optimizer.lr was 0.01 and is now 0.5"},
		"the seed":         {[]string{"run.seed=2"}, "run.seed was 1 and is now 2; use {seed} in run.fork"},
		"a budget":         {[]string{"time.budget=200ms"}, `time.budget was "150ms" and is now "200ms"`},
		"no run":           {[]string{"run.fork=" + filepath.Join(folder, "none")}, "run.fork: "},
		"two seeds":        {[]string{"run.fork=" + folder + "/{seed}/run"}, "only in the name of the folder"},
	} {
		err := run("refused", append([]string{from}, c.set...)...)
		require.ErrorContains(t, err, c.says, name)
		require.Equal(t, failure.Configuration, failure.CodeOf(t.Context(), err), name)
		require.NoDirExists(t, filepath.Join(folder, "refused"), name)
	}
	kept, err := results.KeptCheckpoints(files.OS{}, source)
	require.NoError(t, err)
	require.Len(t, kept, 4)
	began := func(name string, set ...string) string {
		require.NoError(t, run(name, append(set, from)...))
		m, err := results.ReadManifest(files.OS{}, filepath.Join(folder, name))
		require.NoError(t, err)
		return m.Fork
	}
	require.Equal(t, kept[3], began("newest"))
	require.NoError(t, os.WriteFile(kept[3], []byte("torn"), 0o600))
	require.Equal(t, kept[2], began("older"), "a damaged checkpoint is left out")
	require.Equal(t, kept[1], began("earlier", "time.stop=80ms"))
	table := filepath.Join(source, "epochs.csv")
	text, err := os.ReadFile(table)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(table, []byte(strings.Replace(string(text), "\n0,", "\n00,", 1)), 0o600))
	require.Empty(t, began("torn"), "no checkpoint has the rows of the table")
	require.NoError(t, os.WriteFile(table, text, 0o600))
	require.NoError(t, results.RemoveKept(files.OS{}, source))
	require.Empty(t, began("beginning"), "a job without a common checkpoint starts from the beginning")
}

// A run whose weights file has changed, or that continued with another budget, has no forks.
func TestForksOfRunsWithAnotherPast(t *testing.T) {
	folder := t.TempDir()
	run := func(name string, resume bool, set ...string) error {
		o := with(filepath.Join(folder, name), resume, set...)
		_, err := train.Run(t.Context(), worktest.Env(files.OS{}), "", o)
		return err
	}
	require.NoError(t, run("first", false))
	weights := filepath.Join(folder, "w.safetensors")
	copyFile := func(from string) {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(weights, text, 0o600))
	}
	copyFile(filepath.Join(folder, "first", app.WeightsFile))
	given := []string{"network.file=" + filepath.Join(folder, "first", app.NetworkFile), "network.weights=" + weights,
		"adapt.actions=[\"none\"]", "checkpoint.keep_every=30ms"}
	require.NoError(t, run("source", false, given...))
	fork := append(slices.Clone(given), "run.fork="+filepath.Join(folder, "source"))
	require.NoError(t, run("same", false, fork...))
	copyFile(filepath.Join(folder, "source", app.WeightsFile))
	require.ErrorContains(t, run("changed", false, fork...), "file network.weights has changed since")

	source := filepath.Join(folder, "resumed")
	stoppedAfterDecision(t, source)
	longer := append(slices.Clone(long), "checkpoint.keep_every=10ms")
	require.NoError(t, run("resumed", true, longer...))
	require.ErrorContains(t, run("other", false, append(longer, "run.fork="+source)...), "another time.budget")
}

// A resumed job is refused if its new stop lies in its past.
func TestResumeWithStopsInThePast(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	stoppedAfterDecision(t, folder)
	for set, says := range map[string]string{
		"time.stop=40ms":      "time.stop must be after time",
		"time.stop_loss=1000": "would have ended the job before time",
	} {
		o := with(folder, true, append(slices.Clone(short), set)...)
		_, err := train.Run(t.Context(), worktest.Env(files.OS{}), "", o)
		require.ErrorContains(t, err, says)
	}
}

// A run that continues with another configuration keeps only checkpoints of that configuration.
func TestForksOfChangedRuns(t *testing.T) {
	source := filepath.Join(t.TempDir(), "source")
	keep := "checkpoint.keep_every=10ms"
	stoppedAfterDecision(t, source, keep)
	before, err := results.KeptCheckpoints(files.OS{}, source)
	require.NoError(t, err)
	require.NotEmpty(t, before)
	longer := []string{short[0], short[1], short[2], short[3][:len(short[3])-1] + `, {at = "110ms", change = "up"}]`}
	resumed := with(source, true, append(slices.Clone(longer), keep)...)
	_, err = train.Run(t.Context(), worktest.Env(files.OS{}), "", resumed)
	require.NoError(t, err)
	after, err := results.KeptCheckpoints(files.OS{}, source)
	require.NoError(t, err)
	require.NotContains(t, after, before[0])
	env := worktest.Env(files.OS{})
	forked := forks(env)
	later := append(slices.Clone(longer), "time.stop=110ms", "run.fork="+source)
	_, err = train.Run(t.Context(), env, "", with(filepath.Join(t.TempDir(), "fork"), false, later...))
	require.NoError(t, err)
	require.Equal(t, 1, forked())
}

// A fault while a job forks ends it with an error or changes nothing. A second run ends with the same bytes.
func TestForksSurviveFaults(t *testing.T) {
	source := filepath.Join(t.TempDir(), "source")
	_, err := train.Run(t.Context(), worktest.Env(files.OS{}), "", with(source, false, "checkpoint.keep_every=30ms"))
	require.NoError(t, err)
	worktest.SurviveFaults(t, func(env *app.Env, folder string, again bool) error {
		_, missing := os.Stat(filepath.Join(folder, results.ManifestFile))
		o := with(folder, again && missing == nil, "run.fork="+source, "checkpoint.keep_every=30ms",
			`time.events=[{at = "50ms", change = "up"}, {at = "120ms", change = "down"}]`)
		_, err := train.Run(t.Context(), env, "", o)
		return err
	}, func(path string) bool { return path == "epochs.csv" || path == "events.jsonl" })
}

// forks counts the runs of an environment that start from a kept checkpoint.
func forks(e *app.Env) func() int {
	core, logs := observer.New(zap.InfoLevel)
	e.Log = zap.New(core)
	return func() int { return logs.FilterMessage("starting from a kept checkpoint").Len() }
}
