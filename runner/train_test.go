package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/decider"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/control"
	"graft/runner/train"
	"graft/trainer"
	"graft/trainer/clock"
)

// brief returns the command line of a job that takes a second.
func brief(folder string, more ...string) []string {
	args := []string{"train", "--quiet", "--folder", folder}
	for _, set := range []string{"time.budget=1s", "data.synthetic.size=16",
		"data.synthetic.train=300", "data.synthetic.test=100", "data.synthetic.classes=3",
		`time.events=[{at = "300ms", change = "up"}, {at = "700ms", change = "down"}]`, `adapt.decider="script"`,
		`adapt.actions=["deepen:conv1"]`} {
		args = append(args, "--set", set)
	}
	return append(args, more...)
}

func TestTrainTellsWhatHappened(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	o := done(t, brief(folder)...)
	containsAll(t, o.stdout, "deepen:conv1", "shrink", "accuracy on the test images", "1 decision,", folder)
	for _, name := range []string{"manifest.json", "config.resolved.toml", "epochs.csv", "events.jsonl",
		"outcome.json"} {
		require.FileExists(t, filepath.Join(folder, name))
	}
	fails(t, failure.Usage, "--force", brief(folder)...)
	forced := done(t, brief(folder, "--force", "--json")...)
	require.DirExists(t, folder+".1", "the old run is moved aside")
	report := decoded[train.Result](t, forced.stdout)
	require.Contains(t, o.stdout, report.Outcome.Digest[:12], "the same job has the same digest")
	ended := done(t, brief(folder, "--resume")...)
	require.Contains(t, ended.stdout, report.Outcome.Digest[:12], "there is nothing left to do")
	other := fails(t, failure.Configuration, "optimizer.lr was 0.01 and is now 0.02; "+
		"the job has already reached time ",
		brief(folder, "--resume", "--set", "optimizer.lr=0.02", "--set", "run.threads=1")...)
	require.NotContains(t, other.stderr, "threads")
}

// A job that is told to stop exits with the code for requeueing, and ends with the same result after resumes.
func TestTrainIsRequeued(t *testing.T) {
	requireRequeued(t, brief)
}

// requireRequeued runs a job without a stop, and again with stops, and checks that both write the same.
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
	sameFiles(t, whole, stopped, "epochs.csv", "events.jsonl")
	return whole
}

// The demo shows all features of a job, and leaves no files behind unless told to.
func TestDemo(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	quick := []string{"demo", "--quiet", "--set", "time.budget=1s", "--set",
		`time.events=[{at = "300ms", change = "up"}, {at = "700ms", change = "down"}]`,
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
		"a misspelt key":    {[]string{"--set", "time.budgt=3"}, failure.Configuration, "did you mean budget?"},
		"a negative budget": {[]string{"--set", `time.budget="-3s"`}, failure.Configuration, "budget"},
		"events out of order": {[]string{"--set", `time.events=[{at="9s",change="up"},{at="3s",change="down"}]`},
			failure.Configuration, "sort events by time"},
		"a missing dataset": {[]string{"--set", `data.kind="cifar10"`, "--set", `data.path="nowhere"`}, failure.Failed,
			"nowhere"},
		"other weights":      {[]string{"--set", `network.weights="none.pth"`}, failure.Failed, "none.pth"},
		"no place for a run": {[]string{"--folder", filepath.Join(readOnly, "run")}, failure.Failed, "file"},
		"no file":            {[]string{"nowhere.toml"}, failure.Failed, "nowhere.toml"},
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
	fails(t, failure.Usage, "expected one of: cifar10", "data", "fetch", "cifar11")
	require.Equal(t, failure.Usage, graft("data", "fetch").code)
	require.Equal(t, failure.Usage, graft("data", "fech", "mnist").code)
}

// asking returns the command line of a job that asks a policy at each epoch after an up.
func asking(policy string, more ...string) func(folder string, also ...string) []string {
	return func(folder string, also ...string) []string {
		args := []string{"train", "--quiet", "--folder", folder}
		for _, set := range append([]string{"time.budget=1s", "data.synthetic.train=200", "data.synthetic.test=60",
			"data.synthetic.classes=3", `time.events=[{at = "300ms", change = "up"}]`, `adapt.decider="policy"`,
			"adapt.each_epoch=true", "adapt.max_decisions=2", "adapt.policy=" + policy}, more...) {
			args = append(args, "--set", set)
		}
		return append(args, also...)
	}
}

// decisions returns the decisions of a run.
func decisions(t *testing.T, folder string) (made []trainer.Note) {
	for line := range strings.Lines(contents(t, filepath.Join(folder, "events.jsonl"))) {
		if note := decoded[trainer.Note](t, line); note.Event == "decision" {
			made = append(made, note)
		}
	}
	return made
}

// A structural policy decides in a job. The job ends with the same bits after any number of stops, and does not resume
// with another policy.
func TestTrainAsksAStructuralPolicy(t *testing.T) {
	run := t.TempDir()
	path := filepath.Join(run, config.PolicyFile)
	learn := func(seed uint64) {
		p, err := decider.NewStructural(decider.StructuralShape{Hidden: 8}, decider.Scale{}, decider.Scale{}, seed)
		require.NoError(t, err)
		require.NoError(t, p.Write(files.OS{}, path))
	}
	learn(1)
	args := asking(run, "adapt.sample=true", "run.seed=4", "data.synthetic.size=16")
	folder := requireRequeued(t, args)
	made := decisions(t, folder)
	require.Len(t, made, 2)
	changes := 0
	for _, note := range made {
		require.Greater(t, len(note.Probabilities), 5, "all that fits ConvSmall")
		if note.Action != "none" {
			changes++
		}
	}
	require.Positive(t, changes, "the seed is one that adapts")

	learn(2)
	fails(t, failure.Configuration, "the content of adapt.policy (", args(folder, "--resume")...)
	elsewhere := filepath.Join(run, "none")
	closed := filepath.Join(run, "closed.toml")
	measured := []clock.Measurement{{Network: "ConvSmall", Fingerprint: "f", Batch: 64, StepSeconds: 0.01,
		BatchSeconds: 0.01}}
	require.NoError(t, config.WriteProfile(files.OS{}, closed,
		&clock.Profile{Version: 1, Name: "closed", Measured: measured}))
	fails(t, failure.Configuration,
		"the profile closed has no cost rates and covers only measured networks, but the decider policy may create "+
			"other",
		args(elsewhere, "--set", "time.profile="+closed)...)
	fails(t, failure.Configuration, "does not use a vocabulary",
		args(elsewhere, "--set", "adapt.vocabulary=words.json")...)
	require.NoDirExists(t, elsewhere)
}

// recordOf returns the levels and messages of the log in a run folder.
func recordOf(t *testing.T, folder string) (all []string) {
	t.Helper()
	text := contents(t, filepath.Join(folder, "log.jsonl"))
	for line := range strings.Lines(text) {
		var entry struct {
			Level   string `json:"level"`
			Message string `json:"msg"`
			TS      string `json:"ts"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &entry), line)
		_, err := time.Parse("2006-01-02T15:04:05.000Z0700", entry.TS)
		require.NoError(t, err)
		all = append(all, entry.Level+" "+entry.Message)
	}
	return all
}

// The run folder has the whole log, even for a quiet job. A resumed job appends to it, after a truncated line.
func TestTrainKeepsTheWholeLog(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	first := done(t, brief(folder)...)
	require.Empty(t, first.stderr)
	all := recordOf(t, folder)
	require.Equal(t, "info loaded images onto the device", all[0])
	require.Equal(t, "info start", all[1])
	require.Equal(t, "info end", all[len(all)-1])
	containsAll(t, all, "info up", "info decision", "info down", "info shrink", "debug completed epoch")
	path := filepath.Join(folder, "log.jsonl")
	write(t, path, contents(t, path)+`{"level":"inf`)
	for _, name := range []string{control.AddressFile, control.TokenFile} { // left by a killed process
		write(t, filepath.Join(folder, name), "old")
	}
	require.Equal(t, failure.Done, graft(brief(folder, "--resume")...).code)
	require.NoFileExists(t, filepath.Join(folder, control.AddressFile))
	require.NoFileExists(t, filepath.Join(folder, control.TokenFile))
	again := recordOf(t, folder)
	require.Equal(t, all, again[:len(all)])
	require.Contains(t, again[len(all):], "info continuing from the last checkpoint")
}

// A job continues if its log cannot be written, and reports this once.
func TestTrainGoesOnWithoutItsLog(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	require.Equal(t, failure.Done, graft(brief(folder)...).code)
	path := filepath.Join(folder, "log.jsonl")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	o := done(t, brief(folder, "--resume")...)
	require.Equal(t, []string{"cannot write the log in the run folder; continuing without it"},
		messages(t, o.stderr))
}

// A job without a file requires --set, so nothing trains by mistake.
func TestTrainNeedsAFileOrKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	fails(t, failure.Usage, "train: no job file; name one, write one with 'graft config show --describe >job.toml'",
		"train")
	fails(t, failure.Usage, "no job file", "train", "--quiet", "--json")
	require.NoDirExists(t, "runs")
}
