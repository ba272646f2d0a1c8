package results_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/results"
)

// stepped is a clock that tests move.
type stepped struct{ at time.Time }

func (c *stepped) now() time.Time { return c.at }

func (c *stepped) pass(d time.Duration) { c.at = c.at.Add(d) }

// The tracker writes at limited intervals, keeps a heartbeat, and leaves no file after a success.
func TestTrackerWritesAtIntervals(t *testing.T) {
	dir, clock := t.TempDir(), &stepped{time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)}
	tracker := results.NewTracker(files.OS{}, dir, clock.now, "cells")
	tracker.Note(1, 10)
	_, err := results.ReadProgress(files.OS{}, dir)
	require.ErrorIs(t, err, fs.ErrNotExist, "a short run writes nothing")
	clock.pass(2 * time.Second)
	tracker.Note(2, 10)
	p, err := results.ReadProgress(files.OS{}, dir)
	require.NoError(t, err)
	require.Equal(t, &results.Progress{Done: 2, Of: 10, Unit: "cells", Since: clock.at.Add(-2 * time.Second),
		SinceDone: 1, At: clock.at}, p)
	left, known := p.Left(clock.at.Add(time.Second))
	require.True(t, known)
	require.Equal(t, 15*time.Second, left, "one cell in two seconds, eight cells left, one second later")

	clock.pass(time.Second)
	tracker.Note(3, 10)
	p, _ = results.ReadProgress(files.OS{}, dir)
	require.Equal(t, 2.0, p.Done, "the last write was a second ago")
	clock.pass(time.Second)
	tracker.Measure("jct_mean", "s", 12.5)
	clock.pass(5 * time.Second)
	tracker.Note(3, 10)
	p, _ = results.ReadProgress(files.OS{}, dir)
	require.Equal(t, clock.at, p.At, "the heartbeat")
	require.Equal(t, []float64{12.5}, p.Values)

	tracker.End(nil)
	_, err = results.ReadProgress(files.OS{}, dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
	var none *results.Tracker
	none.Note(1, 2)
	none.Measure("a", "", 1)
	none.Stop()
	none.End(nil)
}

// A failure stays readable until the run starts again, and an interruption is not a failure.
func TestTrackerRecordsFailures(t *testing.T) {
	dir, clock := t.TempDir(), &stepped{time.Unix(1e9, 0)}
	tracker := results.NewTracker(files.OS{}, dir, clock.now, "steps")
	tracker.Note(1, 4)
	tracker.StopOrEnd(false, errors.New(strings.Repeat("ä", 5000)))
	p, err := results.ReadProgress(files.OS{}, dir)
	require.NoError(t, err)
	require.Regexp(t, "^ä{1000}…$", p.Failed)
	clock.pass(time.Hour)
	tracker = results.NewTracker(files.OS{}, dir, clock.now, "steps")
	p, err = results.ReadProgress(files.OS{}, dir)
	require.NoError(t, err)
	require.Empty(t, p.Failed)
	require.Equal(t, 1.0, p.Done)
	_, known := p.Left(clock.at)
	require.False(t, known, "the new process has done nothing yet")
	tracker.Note(2, 4)
	tracker.StopOrEnd(true, errors.New("interrupted"))
	p, err = results.ReadProgress(files.OS{}, dir)
	require.NoError(t, err)
	require.Empty(t, p.Failed)
	require.Equal(t, 2.0, p.Done)
}

// The file stays small for any number of measured values, and keeps their shape.
func TestTrackerBoundsValues(t *testing.T) {
	dir, clock := t.TempDir(), &stepped{time.Unix(1e9, 0)}
	tracker := results.NewTracker(files.OS{}, dir, clock.now, "cells")
	for k := range 10_000 {
		tracker.Measure("jct", "s", float64(k))
	}
	tracker.Measure("jct", "s", math.NaN())
	clock.pass(time.Minute)
	tracker.Note(1, math.Inf(1))
	tracker.Note(1, 2)
	p, err := results.ReadProgress(files.OS{}, dir)
	require.NoError(t, err)
	require.Greater(t, len(p.Values), results.MaxProgressValues/3)
	require.LessOrEqual(t, len(p.Values), results.MaxProgressValues)
	require.IsIncreasing(t, p.Values)
	require.Greater(t, p.Values[len(p.Values)-1], 9000.0)
	info, err := os.Stat(filepath.Join(dir, results.ProgressFile))
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(8<<10))
}

// Damaged progress files are errors.
func TestReadProgressOfDamagedFiles(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "torn": `{"done":1,"of`, "negative": `{"done":-1,"of":2}`,
		"a list": `[1]`, "a word": `{"done":"x"}`, "too large": strings.Repeat(" ", 65<<10) + "{}"} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, results.ProgressFile), []byte(text), 0o600))
		_, err := results.ReadProgress(files.OS{}, dir)
		require.ErrorContains(t, err, results.ProgressFile, name)
	}
	for name, p := range map[string]*results.Progress{"none": nil, "nothing": {}, "no total": {Done: 1}} {
		_, known := p.Share()
		require.False(t, known, name)
		_, known = p.Left(time.Unix(1e9, 0))
		require.False(t, known, name)
	}
	share, known := (&results.Progress{Done: 3, Of: 2}).Share()
	require.True(t, known)
	require.Equal(t, 1.0, share)
}

// Failed writes of progress do not fail the run.
func TestTrackerIgnoresFailedWrites(t *testing.T) {
	clock := &stepped{time.Unix(1e9, 0)}
	tracker := results.NewTracker(files.OS{}, filepath.Join(t.TempDir(), "nowhere"), clock.now, "cells")
	clock.pass(time.Hour)
	tracker.Note(1, 2)
	tracker.End(errors.New("failed"))
}
