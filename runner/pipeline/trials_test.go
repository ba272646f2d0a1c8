package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/worktest"
)

// smallTrials writes the file of a pipeline of two entries; the first has arms and is tuned.
func smallTrials(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"one.toml": "[data.synthetic]\nsize = 16\nchannels = 1\nclasses = 3\ntrain = 20\ntest = 10\n[train]\n" +
			"batch = 20\n[time]\nbudget = \"100ms\"\nevents = [{at = \"20ms\", change = \"up\"}]\n[adapt]\n" +
			"rows = 10\n[run]\nthreads = 1\n",
		"arms.toml": "[never]\n[grow]\nadapt.decider = \"script\"\nadapt.actions = [\"deepen:conv1\"]\n",
		"all.toml": "[pipeline]\ntrials = [{job = \"one.toml\", cases = \"arms.toml\", " +
			"sweep = [\"time.budget=80ms,100ms\"], tune = {sweep = [\"optimizer.lr=1e-2,1e30\"], " +
			"set = [\"time.budget=80ms\"]}}, {name = \"two\", job = \"one.toml\", set = [\"run.seed=5\"]}]\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return filepath.Join(dir, "all.toml")
}

// keptOfTrials reports whether a file is independent of the time of the run.
func keptOfTrials(path string) bool {
	name := filepath.Base(path)
	// parts of a failed trial are moved aside, and a crash leaves temporary files
	if strings.Contains(path, "1e30") || strings.HasSuffix(name, ".tmp") {
		return false
	}
	return strings.HasPrefix(path, runs.TunedFolder) || name == runs.SweepFile || name == "epochs.csv" ||
		name == runs.OutcomeFile && !strings.Contains(path, runs.TrialsFolder) ||
		strings.Contains(path, runs.CasesFolder)
}

// After a fault at any write, a pipeline of trials ends in an error or with the same bytes. A second run then ends with
// the same bytes.
func TestPipelinesOfTrialsSurviveFaults(t *testing.T) {
	path := smallTrials(t)
	worktest.SurviveFaults(t, func(env *app.Env, folder string, _ bool) error {
		_, err := Run(context.Background(), env, path, Options{Folder: folder})
		return err
	}, keptOfTrials)
}

// stopper cancels a context after a number of completed trials.
type stopper struct {
	left int
	stop context.CancelFunc
}

// Write counts completed trials in the log.
func (s *stopper) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "completed trial") {
		if s.left--; s.left == 0 {
			s.stop()
		}
	}
	return len(line), nil
}

// A pipeline that stops after any number of trials continues to the same bytes. So does one that runs in portions.
func TestPipelinesOfTrialsContinue(t *testing.T) {
	path, whole := smallTrials(t), filepath.Join(t.TempDir(), "whole")
	r, err := Run(context.Background(), worktest.Env(files.OS{}), path, Options{Folder: whole})
	require.NoError(t, err)
	want := worktest.Contents(t, whole, keptOfTrials)
	require.Contains(t, want, filepath.Join(runs.TunedFolder, "one.toml"))
	require.Equal(t, []int{4, 1}, []int{r.Outcome.Trials[0].Trials, r.Outcome.Trials[1].Trials})
	for _, c := range r.Outcome.Trials[0].Tuning.Cases {
		require.Equal(t, []string{"optimizer.lr=1e-2"}, c.Set)
		require.Nil(t, c.Tried[1].Accuracy, "it diverged")
		require.Equal(t, 1, c.Tried[1].Diverged)
	}
	for _, after := range []int{1, 3, 6} {
		folder := filepath.Join(t.TempDir(), "run")
		ctx, stop := context.WithCancel(context.Background())
		env := worktest.Env(files.OS{})
		env.Log = zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "msg"}),
			zapcore.AddSync(&stopper{after, stop}), zapcore.InfoLevel))
		_, err := Run(ctx, env, path, Options{Folder: folder})
		require.Equal(t, failure.Requeue, failure.CodeOf(ctx, err), err)
		_, err = Run(context.Background(), worktest.Env(files.OS{}), path, Options{Folder: folder})
		require.NoError(t, err)
		require.Equal(t, want, worktest.Contents(t, folder, keptOfTrials), after)
	}

	folder := filepath.Join(t.TempDir(), "run")
	only := func(names ...string) (stages []string) {
		r, err := Run(context.Background(), worktest.Env(files.OS{}), path, Options{Folder: folder, Only: names})
		require.NoError(t, err)
		for _, s := range r.Stages {
			if !s.Skipped {
				stages = append(stages, s.Stage)
			}
		}
		return stages
	}
	require.Equal(t, []string{"trials two"}, only("two"))
	require.NoFileExists(t, filepath.Join(folder, runs.OutcomeFile), "an entry is missing")
	require.Equal(t, []string{"tune one", "trials one"}, only("one"))
	require.Equal(t, want, worktest.Contents(t, folder, keptOfTrials))
	require.Empty(t, only())
	for _, name := range []string{"three", ""} {
		o := Options{Folder: folder, Only: []string{name}}
		_, err = Run(context.Background(), worktest.Env(files.OS{}), path, o)
		require.ErrorContains(t, err, "the entries are one, two")
	}
}

// Other trials in the folder are neither overwritten nor moved aside, and the pipeline of the folder stays completed.
func TestPipelinesOfOtherTrials(t *testing.T) {
	path, folder := smallTrials(t), filepath.Join(t.TempDir(), "run")
	run := func(set ...string) error {
		_, err := Run(context.Background(), worktest.Env(files.OS{}), path, Options{Folder: folder, Set: set})
		return err
	}
	require.NoError(t, run())
	want := worktest.Contents(t, filepath.Join(folder, "two"), func(string) bool { return true })
	record := func(name string) bool { return filepath.Dir(name) == "." }
	was := worktest.Contents(t, folder, record)
	require.ErrorContains(t, run("pipeline.set=[\"train.batch=10\"]"), "the folder contains another sweep")
	require.Equal(t, was, worktest.Contents(t, folder, record))
	require.NoError(t, run())
	require.Equal(t, want, worktest.Contents(t, filepath.Join(folder, "two"), func(string) bool { return true }))
}

// An entry with failing trials does not hold up other entries.
func TestPipelinesOfFailingTrials(t *testing.T) {
	path, folder := smallTrials(t), filepath.Join(t.TempDir(), "run")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for old, says := range map[string]string{
		"1e-2,1e30": "one: 4 of 4 trials failed, such as",
		"run.seed=": "two: 1 of 1 trial failed",
	} {
		now := map[string]string{"1e-2,1e30": "1e29,1e30", "run.seed=": "optimizer.lr=1e3"}[old]
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), old, now, 1)), 0o600))
		o, err := Run(context.Background(), worktest.Env(files.OS{}), path, Options{Folder: folder, Force: true})
		require.ErrorContains(t, err, says)
		require.Equal(t, failure.Partial, failure.CodeOf(context.Background(), err))
		require.Len(t, o.Outcome.Trials, 1)
		require.NoFileExists(t, filepath.Join(folder, runs.OutcomeFile))
	}
}

// The best mean wins, the first one among equals. A trial that diverged loses.
func TestSelectedValues(t *testing.T) {
	e := &config.TrialsEntry{TrialsOptions: config.TrialsOptions{Name: "e", Cases: "arms.toml",
		Tune: config.TuneOptions{Sweep: []string{"optimizer.lr=1,2,3"}, Seeds: 2}}, Named: []config.Case{{Name: "a"}}}
	outcome := func(values ...[]float64) *runs.SweepOutcome {
		o := &runs.SweepOutcome{}
		for k, list := range values {
			c := &runs.CaseOutcome{Name: "a optimizer.lr=" + string(rune('1'+k))}
			for _, v := range list {
				c.Trials = append(c.Trials, runs.TrialOutcome{Values: map[string]float64{runs.ValidationAccuracy: v}})
			}
			if len(list) > 0 {
				o.Cases = append(o.Cases, c)
			}
		}
		return o
	}
	for want, o := range map[string]*runs.SweepOutcome{
		"2": outcome([]float64{0.5, 0.5}, []float64{0.4, 0.8}, []float64{0.6, 0.5}),
		"1": outcome([]float64{0.5, 0.5}, []float64{0.4, 0.6}, []float64{0.5, 0.5}),
		"3": outcome([]float64{0.9}, nil, []float64{0, 0}),
	} {
		got, cases, err := selectValues(e, o)
		require.NoError(t, err)
		require.Equal(t, []string{"optimizer.lr=" + want}, got.Cases[0].Set)
		require.Equal(t, got.Cases[0].Set, cases[0].Set)
	}
	_, _, err := selectValues(e, outcome([]float64{0.9}, nil, nil))
	require.ErrorIs(t, err, errUntuned)
}
