package train_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"graft/internal/files"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	"graft/runner/train"
	"graft/runner/worktest"
	"graft/trainer"
)

// with returns the options of the smallest job with further assignments.
func with(folder string, resume bool, set ...string) train.Options {
	o := smallest(folder)
	o.Set, o.Resume = append(slices.Clone(o.Set), set...), resume
	return o
}

// short is stopped after its first decision; long is the same job with more changes and actions ahead.
var (
	short = []string{"train.steady=true", "schedule.rule=constant", "time.budget=120ms",
		`time.events=[{at = "50ms", change = "up"}]`}
	long = []string{"train.steady=true", "schedule.rule=constant", "time.budget=200ms",
		`time.events=[{at = "50ms", change = "up"}, {at = "110ms", change = "up"}]`,
		`adapt.actions=["deepen:conv1", "deepen:conv2"]`}
)

// stoppedAfterDecision runs a job, with further assignments, until its first decision.
func stoppedAfterDecision(t *testing.T, folder string, set ...string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	env := worktest.Env(files.OS{})
	core, _ := observer.New(zapcore.InfoLevel)
	env.Log = zap.New(core, zap.Hooks(func(e zapcore.Entry) error {
		if e.Message == "decision" {
			cancel()
		}
		return nil
	}))
	_, err := train.Run(ctx, env, "", with(folder, false, append(slices.Clone(short), set...)...))
	require.ErrorIs(t, err, trainer.ErrStopped)
}

// A resumed job accepts changes that are still ahead, gives the same bits as if they had been there from the start, and
// logs each. Changes to the past are refused.
func TestResumeWithChangesAhead(t *testing.T) {
	whole, folder := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "run")
	want, err := train.Run(context.Background(), worktest.Env(files.OS{}), "", with(whole, false, long...))
	require.NoError(t, err)
	require.Equal(t, 2, want.Outcome.Decisions)
	stoppedAfterDecision(t, folder)

	for name, c := range map[string]struct {
		set  []string
		says string
	}{
		"a decision": {append(slices.Clone(long), `adapt.actions=["deepen:conv2"]`),
			"adapt.actions: decision 1 was deepen:conv1 and is now deepen:conv2"},
		"no script": {append(slices.Clone(long), `adapt.decider=none`, "adapt.actions=[]"),
			`adapt.decider was "script" and is now "none"`},
		"an event": {append(slices.Clone(long), `time.events=[{at = "40ms", change = "up"}]`),
			"time.events: event 0 at 40ms differs from the event"},
		"an event too late": {append(slices.Clone(long), `time.events=[{at = "50ms", change = "up"}, {at = "60ms", `+
			`change = "up"}]`), "time.events: new event 1 at 60ms is in the past"},
		"an event left out": {append(slices.Clone(long), "time.events=[]"),
			"time.events: the list has 0 events, but the job has already handled 1"},
		"a budget that is over": {append(slices.Clone(long), "time.budget=60ms",
			`time.events=[{at = "50ms", change = "up"}]`), "time.budget must not change from 120ms to 60ms"},
		"another key": {append(slices.Clone(long), "optimizer.lr=0.5"), "optimizer.lr was 0.01 and is now 0.5"},
	} {
		_, err := train.Run(context.Background(), worktest.Env(files.OS{}), "", with(folder, true, c.set...))
		require.ErrorContains(t, err, c.says, name)
		require.ErrorContains(t, err, " reached ", name)
	}

	env := worktest.Env(files.OS{})
	core, logs := observer.New(zapcore.InfoLevel)
	env.Log = zap.New(core)
	got, err := train.Run(context.Background(), env, "", with(folder, true, long...))
	require.NoError(t, err)
	require.Equal(t, want.Outcome.Digest, got.Outcome.Digest)
	var accepted []string
	for _, line := range logs.All() {
		if text, is := strings.CutPrefix(line.Message, "configuration change accepted: "); is {
			key, _, _ := strings.Cut(text, " ")
			accepted = append(accepted, key)
		}
	}
	require.Equal(t, []string{"time.budget", "time.events", "adapt.actions"}, accepted)
	m, err := results.ReadManifest(files.OS{}, folder)
	require.NoError(t, err)
	whole1, err := results.ReadManifest(files.OS{}, whole)
	require.NoError(t, err)
	require.Equal(t, whole1.ConfigSHA256, m.ConfigSHA256, "the run is that of the changed configuration")

	_, err = train.Run(context.Background(), worktest.Env(files.OS{}), "",
		with(folder, true, append(slices.Clone(long), "time.budget=300ms")...))
	require.ErrorContains(t, err, "the job already ended at ")
}

// A fault while a change is accepted ends the resumed job with an error or changes nothing. A second resume ends with
// the same bytes.
func TestChangesAheadSurviveFaults(t *testing.T) {
	worktest.SurviveFaults(t, func(env *app.Env, folder string, again bool) error {
		if !again {
			stoppedAfterDecision(t, folder)
		}
		_, err := train.Run(context.Background(), env, "", with(folder, true, long...))
		return err
	}, func(path string) bool {
		return path == "epochs.csv" || path == "events.jsonl" || path == runs.ManifestFile || path == runs.ResolvedFile
	})
}
