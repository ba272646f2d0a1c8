package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/results/failure"
	"graft/work/train"
)

// brief are the settings of a job that takes a second.
func brief(folder string, more ...string) []string {
	args := []string{"train", "--quiet", "--folder", folder}
	for _, set := range []string{"time.budget=1s", "data.synthetic.size=16", "data.synthetic.train=300", "data.synthetic.test=100", "data.synthetic.classes=3",
		`time.events=[{at = "300ms", change = "up"}, {at = "700ms", change = "down"}]`, `adapt.decider="script"`, `adapt.actions=["deepen:conv1"]`} {
		args = append(args, "--set", set)
	}
	return append(args, more...)
}

func TestTrainTellsWhatHappened(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	o := done(t, brief(folder)...)
	containsAll(t, o.stdout, "deepen:conv1", "shrink", "accuracy on the test images", "1 decisions", folder)
	for _, name := range []string{"manifest.json", "config.resolved.toml", "epochs.csv", "events.jsonl", "outcome.json"} {
		require.FileExists(t, filepath.Join(folder, name))
	}
	fails(t, failure.Usage, "--force", brief(folder)...)
	forced := done(t, brief(folder, "--force", "--json")...)
	require.DirExists(t, folder+".1", "the old run is moved aside")
	report := decoded[train.Result](t, forced.stdout)
	require.Contains(t, o.stdout, report.Outcome.Digest[:12], "the same job has the same digest")
	ended := done(t, brief(folder, "--resume")...)
	require.Contains(t, ended.stdout, report.Outcome.Digest[:12], "there is nothing left to do")
	other := fails(t, failure.Configuration, "optimizer.lr was 0.01 and is 0.02; give it what it had", brief(folder, "--resume", "--set", "optimizer.lr=0.02", "--set", "run.threads=1")...)
	require.NotContains(t, other.stderr, "threads")
}

// A job that is told to stop leaves with the code for being asked again, and ends
// as it would have.
func TestTrainIsRequeued(t *testing.T) {
	requireRequeued(t, brief)
}

// requireRequeued runs a job at one go, and again with stops: both write down the same.
func requireRequeued(t *testing.T, args func(folder string, more ...string) []string) (whole string) {
	t.Helper()
	whole, stopped := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "stopped")
	done(t, args(whole)...)
	stops := 0
	for wait := 40 * time.Millisecond; ; wait *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		more := []string{}
		if _, err := os.Stat(filepath.Join(stopped, "manifest.json")); err == nil {
			more = append(more, "--resume")
		}
		o := call(ctx, newRootCommand(), args(stopped, more...)...)
		cancel()
		if o.code == failure.Done {
			break
		}
		require.Equal(t, failure.Requeue, o.code, o.stderr)
		stops++
	}
	require.Positive(t, stops)
	for _, name := range []string{"epochs.csv", "events.jsonl"} {
		require.Equal(t, contents(t, filepath.Join(whole, name)), contents(t, filepath.Join(stopped, name)))
	}
	return whole
}

// The demo shows all that a job does, and leaves nothing behind unless told to.
func TestDemo(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	quick := []string{"demo", "--quiet", "--set", "time.budget=1s", "--set", `time.events=[{at = "300ms", change = "up"}, {at = "700ms", change = "down"}]`,
		"--set", "data.synthetic.train=300", "--set", "data.synthetic.test=100", "--set", "data.synthetic.size=16"}
	o := done(t, quick...)
	containsAll(t, o.stdout, "deepen:conv2", "widen:conv3:64", "shrink", "accuracy on the test images")
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Empty(t, left)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, failure.Interrupted, call(ctx, newRootCommand(), quick...).code)
	require.Equal(t, failure.Usage, graft("demo", "more").code)
}

func TestTrainRefuses(t *testing.T) {
	folder := t.TempDir()
	readOnly := filepath.Join(folder, "file")
	require.NoError(t, os.WriteFile(readOnly, nil, 0o600))
	cases := map[string]struct {
		args []string
		code failure.Code
		word string
	}{
		"a misspelt key":      {[]string{"--set", "time.budgt=3"}, failure.Configuration, "did you mean budget?"},
		"a negative budget":   {[]string{"--set", `time.budget="-3s"`}, failure.Configuration, "budget"},
		"events out of order": {[]string{"--set", `time.events=[{at="9s",change="up"},{at="3s",change="down"}]`}, failure.Configuration, "put them in order"},
		"a missing dataset":   {[]string{"--set", `data.kind="cifar10"`, "--set", `data.path="nowhere"`}, failure.Failed, "nowhere"},
		"other weights":       {[]string{"--set", `network.weights="none.pth"`}, failure.Failed, "none.pth"},
		"nothing to resume":   {[]string{"--resume"}, failure.Failed, "no run folder"},
		"no place for a run":  {[]string{"--folder", filepath.Join(readOnly, "run")}, failure.Failed, "file"},
		"no file":             {[]string{"nowhere.toml"}, failure.Failed, "nowhere.toml"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"train", "--quiet", "--folder", filepath.Join(folder, name)}, c.args...)
			args = append(args, "--set", "data.synthetic.train=200", "--set", "data.synthetic.test=50")
			o := fails(t, c.code, c.word, args...)
			require.Empty(t, o.stdout)
			require.NoDirExists(t, filepath.Join(folder, name), "a job that could not begin leaves no folder")
		})
	}
}

func TestDataFetchRefuses(t *testing.T) {
	fails(t, failure.Usage, "name one of cifar10", "data", "fetch", "cifar11")
	require.Equal(t, failure.Usage, graft("data", "fetch").code)
	require.Equal(t, failure.Usage, graft("data", "fech", "mnist").code)
}
