package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/report/runs"
	"graft/runner/worktest"
)

// newTrials changes to a folder with the file of a pipeline of two tuned jobs with two arms each.
func newTrials(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	const job = "[data.synthetic]\nsize = 16\nchannels = 1\nclasses = 4\ntrain = 400\ntest = 40\n[train]\n" +
		"batch = 40\n[time]\nbudget = \"400ms\"\nevents = [{at = \"50ms\", change = \"up\"}]\n[adapt]\n" +
		"rows = 20\n[run]\nthreads = 1\n"
	write(t, "one.toml", job)
	write(t, "two.toml", job+"seed = 11\n")
	write(t, "arms.toml", "[never]\n[grow]\nadapt.decider = \"script\"\nadapt.actions = [\"deepen:conv1\"]\n")
	const entry = "[[pipeline.trials]]\njob = \"%s.toml\"\ncases = \"arms.toml\"\n" +
		"sweep = [\"time.budget=200ms,400ms\"]\nseeds = 2\ntune = {sweep = [\"optimizer.lr=1e-9,1e-2\"], " +
		"seeds = 1, first_seed = 101, set = [\"time.budget=2s\"]}\n"
	write(t, "all.toml", "[pipeline]\nfolder = \"run\"\nset = [\"fleet.workers=2\"]\n"+
		fmt.Sprintf(entry, "one")+fmt.Sprintf(entry, "two"))
}

// ofTrials reports whether a file is the same in any run of a pipeline of trials.
func ofTrials(path string) bool {
	name := filepath.Base(path)
	return name == runs.SweepFile || name == "epochs.csv" || filepath.Dir(path) == runs.TunedFolder ||
		name == runs.OutcomeFile &&
			filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(path)))) != runs.TrialsFolder ||
		filepath.Base(filepath.Dir(path)) == runs.CasesFolder && filepath.Ext(name) == ".toml"
}

// A pipeline of trials can be checked, run and reported. Its entries equal runs of graft train on the tuned cases.
func TestPipelineOfTrials(t *testing.T) {
	newTrials(t)
	require.Regexp(t, `^all\.toml: ok: runs 24 trials of 2 entries, 0\.00578 hours of budgets; digest [0-9a-f]{12}\n`+
		`one: 4 cases, 8 trials, 0\.000667 hours of budgets; before them, 4 trials of 4 cases select values, `+
		`0\.00222 hours of budgets\ntwo: .*\n$`, done(t, "config", "check", "all.toml").stdout)
	fails(t, failure.Usage, "no entry \"three\"; the entries are one, two", "pipeline", "all.toml", "--only", "three")
	require.NoDirExists(t, "run")
	o := done(t, "pipeline", "all.toml", "--quiet", "--only", "two")
	require.NotContains(t, o.stdout, "\none ")
	o = done(t, "pipeline", "all.toml", "--quiet")
	require.Regexp(t, `(?m)^one +4 +8 +0 +one\ntwo +4 +8 +0 +two$`, o.stdout)
	require.Regexp(t, `(?m)^one +grow +optimizer\.lr=1e-2 +[0-9.]+% +optimizer\.lr=1e-9: [0-9.]+%, optimizer`, o.stdout)
	require.Contains(t, o.stdout, "skipped unchanged stages: tune two, trials two\n\nresults in run\n")

	report := done(t, "report", "run")
	require.Regexp(t, `(?m)^tune one +done +[0-9.]+ +0 +run/tuning/one +trials 4`, report.stdout)
	require.Regexp(t, `(?m)^one +never +optimizer\.lr=1e-2 `, report.stdout)
	require.Contains(t, done(t, "report", "run/one").stdout, "grow time.budget=400ms")
	done(t, "report", "--json", "run")
	done(t, "plot", "run", "--out", "figures")

	done(t, "train", "one.toml", "--cases", "run/tuned/one.toml", "--sweep", "time.budget=200ms,400ms", "--seeds", "2",
		"--set", "fleet.workers=2", "--folder", "by-hand", "--quiet")
	require.Equal(t, worktest.Contents(t, "by-hand", ofTrials), worktest.Contents(t, "run/one", ofTrials))
	require.Equal(t, contents(t, "by-hand/"+runs.ResolvedFile), contents(t, "run/one/"+runs.ResolvedFile))
}

// A pipeline of trials that is killed during tuning, and again later, ends with the same bytes.
func TestKilledPipelineOfTrials(t *testing.T) {
	if !longTests {
		t.Skip("left out: kills of a pipeline of trials; runner/pipeline stops one; set GRAFT_LONG=1")
	}
	newTrials(t)
	run := func(folder, until string) {
		p, out := process(t, "pipeline", "all.toml", "--folder", folder, "--quiet")
		ended := make(chan error, 1)
		go func() { ended <- p.Wait() }()
		for until != "" {
			if found, _ := filepath.Glob(filepath.Join(folder, until)); len(found) > 0 {
				require.NoError(t, p.Process.Signal(syscall.SIGKILL))
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		err := <-ended
		if until == "" {
			require.NoError(t, err, out)
		}
	}
	run("whole", "")
	for _, until := range []string{"tuning/one/trials/*/*/outcome.json", "one/trials/*/*/outcome.json",
		"tuned/two.toml", ""} {
		run("killed", until)
	}
	want := worktest.Contents(t, "whole", ofTrials)
	require.Contains(t, want, "tuned/one.toml")
	require.Equal(t, want, worktest.Contents(t, "killed", ofTrials))
	require.FileExists(t, filepath.Join("killed", runs.OutcomeFile))
	_, err := os.Stat("killed.1")
	require.ErrorIs(t, err, os.ErrNotExist)
}
