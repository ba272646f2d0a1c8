package sweep_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/sweep"
	"graft/runner/train"
	"graft/runner/worktest"
)

// smallest returns the options of trials of a few steps on the virtual clock, with an up.
func smallest(folder string) sweep.Options {
	return sweep.Options{Folder: folder, Set: []string{"time.budget=100ms",
		`time.events=[{at = "20ms", change = "up"}]`, "data.synthetic.size=16", "data.synthetic.train=20",
		"data.synthetic.test=10", "data.synthetic.classes=3", "train.batch=20", "adapt.rows=10", "run.threads=1",
		`adapt.decider="script"`, `adapt.actions=["deepen:conv1"]`}}
}

// resumed reports whether a second call finds a run to resume.
func resumed(folder string, again bool) bool {
	_, err := os.Stat(filepath.Join(folder, runs.ManifestFile))
	return again && err == nil
}

// A fault at any write ends a sweep with an error or changes nothing, and a second run ends with the same bytes.
func TestSweepsSurviveFaults(t *testing.T) {
	worktest.SurviveFaults(t, func(env *app.Env, folder string, again bool) error {
		o := smallest(folder)
		o.Resume, o.Seeds = resumed(folder, again), 1
		_, err := sweep.Run(context.Background(), env, "", o)
		return err
	}, func(path string) bool {
		name := filepath.Base(path)
		return path == runs.OutcomeFile || name == runs.SweepFile || path == filepath.Join(runs.CasesFolder,
			"as-given.toml") || strings.HasPrefix(path, runs.TrialsFolder) && name == "epochs.csv"
	})
}

// stopsAfter returns an environment that calls a function after each trial, such as to stop after the first one.
func stopsAfter(stop func()) *app.Env {
	env := worktest.Env(files.OS{})
	env.Log = zap.New(zapcore.NewNopCore()).WithOptions(zap.WrapCore(func(zapcore.Core) zapcore.Core {
		return zapcore.NewCore(zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "msg"}),
			zapcore.AddSync(stopper{stop}), zapcore.InfoLevel)
	}))
	return env
}

type stopper struct{ stop func() }

// Write calls the function at the end of a trial.
func (s stopper) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "completed trial") {
		s.stop()
	}
	return len(line), nil
}

// A stopped comparison resumes to the bytes of an uninterrupted one.
func TestComparisonsResume(t *testing.T) {
	compared := func(ctx context.Context, env *app.Env, folder string, resume bool) (*sweep.Result, error) {
		o := sweep.CompareOptions{Options: smallest(folder), SelectionSeeds: 1}
		o.Seeds, o.Resume = 3, resume
		o.Set = append(o.Set, `compare.actions=["deepen:conv1", "none"]`)
		return sweep.Compare(ctx, env, "", o)
	}
	whole, stopped := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	r, err := compared(t.Context(), worktest.Env(files.OS{}), whole, false)
	require.NoError(t, err)
	require.Equal(t, []string{sweep.Configured, "never", "final from scratch", "random", "best fixed"},
		names(r.Outcome))
	require.Equal(t, []int64{4}, r.Outcome.Comparison.SelectionSeeds)
	require.Len(t, r.Outcome.Comparison.Candidates, 2)
	for _, c := range r.Outcome.Cases {
		require.Len(t, c.Trials, 3, c.Name)
	}
	configured, final := r.Outcome.Case(sweep.Configured).Trials[0], r.Outcome.Case("final from scratch").Trials[0]
	require.Equal(t, configured.Values["parameters"], final.Values["parameters"])
	require.NotEqual(t, configured.Digest, final.Digest)

	ctx, stop := context.WithCancel(t.Context())
	_, err = compared(ctx, stopsAfter(stop), stopped, false)
	require.Equal(t, failure.Requeue, failure.CodeOf(context.Background(), err))
	run, err := runs.Open(files.OS{}, stopped)
	require.NoError(t, err)
	require.False(t, run.Ended)
	n, _ := run.Quantity("ended")
	require.Equal(t, 1.0, n)
	_, err = compared(t.Context(), worktest.Env(files.OS{}), stopped, true)
	require.NoError(t, err)
	require.Equal(t, read(t, whole, runs.OutcomeFile), read(t, stopped, runs.OutcomeFile))
}

// A sweep and a job do not resume in each other's folders, and leave the folders unchanged.
func TestFoldersOfOtherKinds(t *testing.T) {
	env, folder := worktest.Env(files.OS{}), filepath.Join(t.TempDir(), "run")
	_, err := train.Run(t.Context(), env, "", train.Options{Set: smallest(folder).Set, Folder: folder})
	require.NoError(t, err)
	before := read(t, folder, runs.OutcomeFile)
	o := smallest(folder)
	o.Resume = true
	_, err = sweep.Run(t.Context(), env, "", o)
	require.ErrorContains(t, err, "the folder contains a job, expected a sweep")
	require.Equal(t, before, read(t, folder, runs.OutcomeFile))

	swept := filepath.Join(t.TempDir(), "run")
	_, err = sweep.Run(t.Context(), env, "", smallest(swept))
	require.NoError(t, err)
	_, err = train.Run(t.Context(), env, "", train.Options{Set: smallest(folder).Set, Folder: swept, Resume: true})
	require.ErrorContains(t, err, "the folder contains a sweep, expected a job")
}

func names(o *runs.SweepOutcome) (list []string) {
	for _, c := range o.Cases {
		list = append(list, c.Name)
	}
	return list
}

func read(t *testing.T, path ...string) string {
	text, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(text)
}

// A policy that changes nothing ends with its initial network. Its baseline's trials then count for the arm that trains
// the final network from scratch.
func TestTheSameNetworkIsNotTrainedAgain(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	o := sweep.CompareOptions{Options: smallest(folder), Arms: []string{sweep.Configured, "final from scratch"}}
	o.Seeds, o.Set = 2, append(o.Set, `adapt.actions=["none"]`)
	r, err := sweep.Compare(t.Context(), worktest.Env(files.OS{}), "", o)
	require.NoError(t, err)
	for k, trial := range r.Outcome.Case("final from scratch").Trials {
		require.Equal(t, "never", trial.Same)
		require.Equal(t, r.Outcome.Case("never").Trials[k].Digest, trial.Digest)
	}
	require.NoDirExists(t, filepath.Join(folder, runs.TrialsFolder, "final-from-scratch"))
	require.Nil(t, r.Outcome.Case("final from scratch").Measures[0].Low, "two seeds are too few for an interval")
}

// A failed trial is reported, the others are kept, and a resume retries it.
func TestAFailedTrialLosesNoOther(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	o := smallest(folder)
	o.Sweep = []string{`network.weights="", "none.safetensors"`}
	require.NoError(t, os.MkdirAll(folder, 0o755))
	for _, resume := range []bool{false, true} {
		o.Resume = resume
		r, err := sweep.Run(t.Context(), worktest.Env(files.OS{}), "", o)
		require.Equal(t, failure.Partial, failure.CodeOf(context.Background(), err), "%v", err)
		require.ErrorContains(t, err, "1 of 2 trials failed")
		require.Len(t, r.Outcome.Cases, 1)
		require.Contains(t, r.Outcome.Failed[0].Why, "none.safetensors")
	}
}

// A sweep whose failed trials all diverged does not advise to retry them.
func TestDivergedTrialsAreNotRetried(t *testing.T) {
	const retry = "retry with option \"resume\""
	o := smallest(filepath.Join(t.TempDir(), "run"))
	o.Sweep = []string{"optimizer.lr=0.01,1e30"}
	_, err := sweep.Run(t.Context(), worktest.Env(files.OS{}), "", o)
	require.ErrorContains(t, err, "a retry would diverge again, so change the configuration and start another sweep")
	require.NotContains(t, err.Error(), retry)
	require.ErrorContains(t, err, "the results of the other trials are in")

	o = smallest(filepath.Join(t.TempDir(), "run"))
	o.Sweep = []string{"optimizer.lr=0.01,1e30", `network.weights="none.safetensors"`}
	_, err = sweep.Run(t.Context(), worktest.Env(files.OS{}), "", o)
	require.ErrorContains(t, err, retry)
	require.NotContains(t, err.Error(), "other trials", "there are none")
}

// All cases are checked before anything is written, and each fault names its case.
func TestFaultsNameTheirCase(t *testing.T) {
	cases := filepath.Join(t.TempDir(), "cases.toml")
	require.NoError(t, os.WriteFile(cases,
		[]byte("[small]\n\"optimizer.lr\" = 0.1\n[wrong]\noptimizer.lr = -1.0\n[seeded]\nrun.seed = 3\n"), 0o600))
	folder := filepath.Join(t.TempDir(), "run")
	o := smallest(folder)
	o.Cases = cases
	_, err := sweep.Run(t.Context(), worktest.Env(files.OS{}), "", o)
	require.ErrorContains(t, err, "case wrong: ")
	require.ErrorContains(t, err, "case seeded: run.seed is set for each trial")
	require.NotContains(t, err.Error(), "case small")
	require.NoDirExists(t, folder)
	o.Cases, o.Seeds = "", 2001
	_, err = sweep.Run(t.Context(), worktest.Env(files.OS{}), "", o)
	require.ErrorContains(t, err, "exceed the maximum of 2000")
	_, err = sweep.Compare(t.Context(), worktest.Env(files.OS{}), "", sweep.CompareOptions{})
	require.ErrorContains(t, err, "the job never adapts")
	require.Equal(t, failure.Configuration, failure.CodeOf(context.Background(), err))
}

// A file that changes while the trials of a sweep run ends the sweep's trials, because their means would mix two jobs.
func TestFilesThatChangeDuringASweep(t *testing.T) {
	dir := t.TempDir()
	timeline := filepath.Join(dir, "events.csv")
	write := func(seconds string) {
		require.NoError(t, os.WriteFile(timeline, []byte("seconds,change,devices\n"+seconds+",up,2\n"), 0o600))
	}
	write("0.05")
	o := smallest(filepath.Join(dir, "run"))
	o.Set, o.Seeds = append(o.Set, "time.events=[]", "time.timeline="+timeline), 2
	r, err := sweep.Run(t.Context(), stopsAfter(func() { write("0.02") }), "", o)
	require.ErrorContains(t, err, "the content of time.timeline ("+timeline+") has changed since the start of the "+
		"sweep")
	require.Len(t, r.Outcome.Cases[0].Trials, 1)
}

// Initial weights that change while the trials of a sweep run end its trials, before a trial starts from other weights.
func TestWeightsThatChangeDuringASweep(t *testing.T) {
	dir := t.TempDir()
	first := smallest(filepath.Join(dir, "first"))
	_, err := sweep.Run(t.Context(), worktest.Env(files.OS{}), "", first)
	require.NoError(t, err)
	trial := filepath.Join(first.Folder, "trials/as-given/seed-1")
	weights := filepath.Join(trial, "weights.safetensors")
	change := func() {
		text, err := os.ReadFile(weights)
		require.NoError(t, err)
		text[len(text)-1] ^= 1
		require.NoError(t, os.WriteFile(weights, text, 0o600))
	}
	o := smallest(filepath.Join(dir, "run"))
	o.Set, o.Seeds = append(o.Set[:len(o.Set)-2], "network.name=", "network.weights="+weights,
		"network.file="+filepath.Join(trial, "network.toml")), 2
	r, err := sweep.Run(t.Context(), stopsAfter(change), "", o)
	require.ErrorContains(t, err, "the content of network.weights ("+weights+") changed since the start of the sweep")
	require.Len(t, r.Outcome.Cases[0].Trials, 1)
	require.NoDirExists(t, filepath.Join(o.Folder, "trials/as-given/seed-2"))
}

// A sweep does not mix trials that start from different weights, or that use different images.
func TestSweepsDoNotMixInputs(t *testing.T) {
	dir := t.TempDir()
	csv, first := filepath.Join(dir, "t.csv"), smallest(filepath.Join(dir, "first"))
	rows := func(word string) {
		text := "text,label\n" + strings.Repeat("x"+word+",1\nyy,0\n", 20)
		require.NoError(t, os.WriteFile(csv, []byte(text), 0o600))
	}
	_, err := sweep.Run(t.Context(), worktest.Env(files.OS{}), "", first)
	require.NoError(t, err)
	weights := filepath.Join(dir, "w.safetensors")
	require.NoError(t, os.Rename(filepath.Join(first.Folder, "trials/as-given/seed-1/weights.safetensors"), weights))
	network := filepath.Join(first.Folder, "trials/as-given/seed-1/network.toml")

	o := smallest(filepath.Join(dir, "run"))
	o.Seeds, o.Resume = 2, true
	o.Set = append(o.Set[:len(o.Set)-2], "network.name=", "network.file="+network, "network.weights="+weights)
	run := func(o sweep.Options) error {
		_, err := sweep.Run(t.Context(), worktest.Env(files.OS{}), "", o)
		return err
	}
	again := func(o sweep.Options) error { // runs the last trial again
		require.NoError(t, os.RemoveAll(filepath.Join(o.Folder, "trials/as-given/seed-2")))
		require.NoError(t, os.Remove(filepath.Join(o.Folder, runs.OutcomeFile)))
		return run(o)
	}
	require.NoError(t, run(o))
	require.NoError(t, again(o))
	require.NoError(t, os.WriteFile(filepath.Join(o.Folder, "trials/as-given/seed-2", runs.OutcomeFile), nil, 0o600))
	require.ErrorContains(t, run(o), "to run the trial again, delete its folder "+
		filepath.Join(o.Folder, "trials/as-given/seed-2"))
	require.NoError(t, again(o))
	text, err := os.ReadFile(weights)
	require.NoError(t, err)
	text[len(text)-1] ^= 1
	require.NoError(t, os.WriteFile(weights, text, 0o600))
	require.ErrorContains(t, run(o), "case as given: the content of network.weights ("+weights+") has changed")

	rows("a")
	d := smallest(filepath.Join(dir, "texts"))
	d.Seeds, d.Resume = 2, true
	d.Set = append(d.Set[:2], "data.kind=csv", "data.path="+csv, "data.context=8", "train.batch=8",
		"time.events=[]", "network.name=SmallBERT", "run.threads=1")
	require.NoError(t, run(d))
	rows("b")
	require.ErrorContains(t, again(d), "trial as given, seed 2 has other images than trial as given, seed 1")
}

// Cases that replace the whole table of data have other images on purpose.
func TestCasesThatReplaceTheData(t *testing.T) {
	o := smallest(filepath.Join(t.TempDir(), "run"))
	o.Sweep = []string{"data = {synthetic={classes=2,train=20,test=10,size=16}}," +
		"{synthetic={classes=3,train=20,test=10,size=16}}"}
	_, err := sweep.Run(t.Context(), worktest.Env(files.OS{}), "", o)
	require.ErrorContains(t, err, "data is swept, which would replace data.synthetic.size of option \"set\"")
	o.Set = slices.DeleteFunc(o.Set, func(set string) bool { return strings.HasPrefix(set, "data.") })
	r, err := sweep.Run(t.Context(), worktest.Env(files.OS{}), "", o)
	require.NoError(t, err)
	require.Len(t, r.Outcome.Cases, 2)
}
