package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"graft/files"
	"graft/results"
	"graft/results/failure"
	"graft/trainer"
)

// recordOf is the log in a run folder, by messages and levels.
func recordOf(t *testing.T, folder string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "log.jsonl"))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
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

// The run folder has the whole log, also of a quiet job, from the first line on; a
// resumed job goes on with it, behind a line that was cut short.
func TestTrainKeepsTheWholeLog(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	first := graft(brief(folder)...)
	require.Equal(t, failure.Done, first.code, first.stderr)
	require.Empty(t, first.stderr)
	all := recordOf(t, folder)
	require.Equal(t, "info images are on the device", all[0])
	require.Equal(t, "info start", all[1])
	require.Equal(t, "info end", all[len(all)-1])
	for _, line := range []string{"info up", "info decision", "info down", "info shrink", "debug epoch"} {
		require.Contains(t, all, line)
	}
	path := filepath.Join(folder, "log.jsonl")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(text, `{"level":"inf`...), 0o600))
	for _, name := range []string{listenFile, tokenFile} { // of a process that was killed
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("old"), 0o600))
	}
	require.Equal(t, failure.Done, graft(brief(folder, "--resume")...).code)
	require.NoFileExists(t, filepath.Join(folder, listenFile))
	require.NoFileExists(t, filepath.Join(folder, tokenFile))
	again := recordOf(t, folder)
	require.Equal(t, all, again[:len(all)])
	require.Contains(t, again[len(all):], "info going on from the last checkpoint")
}

// A log that cannot be written stops no job, and is complained about once.
func TestTrainGoesOnWithoutItsLog(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	require.Equal(t, failure.Done, graft(brief(folder)...).code)
	path := filepath.Join(folder, "log.jsonl")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	o := graft(brief(folder, "--resume")...)
	require.Equal(t, failure.Done, o.code, o.stderr)
	require.Equal(t, []string{"the log in the run folder cannot be written; the job goes on without it"}, messages(t, o.stderr))
}

// deaf is a file system on which a log takes a few lines only.
type deaf struct {
	files.OS
	lines *int
}

func (d deaf) Append(path string) (files.File, error) {
	f, err := d.OS.Append(path)
	return deafFile{f, d.lines}, err
}

type deafFile struct {
	files.File
	lines *int
}

func (f deafFile) Write(p []byte) (int, error) {
	if *f.lines--; *f.lines < 0 {
		return 0, errors.New("the disk is full")
	}
	return f.File.Write(p)
}

func TestRecordComplainsOnce(t *testing.T) {
	seen, console := observer.New(zapcore.InfoLevel)
	both, alone, record := recorded(zap.New(seen))
	both.Debug("held back")
	takes := 2
	run, err := results.Create(deaf{lines: &takes}, filepath.Join(t.TempDir(), "run"), results.CreateOptions{}, results.Manifest{})
	require.NoError(t, err)
	record.open(run)
	both.Info("written")
	for range 5 {
		both.Info("said")
		alone.Info("not said")
	}
	require.NoError(t, run.Close())
	require.Equal(t, []string{"debug held back", "info written"}, recordOf(t, run.Path("")))
	var said []string
	for _, e := range console.All() {
		said = append(said, e.Message)
	}
	complaint := "the log in the run folder cannot be written; the job goes on without it"
	require.Equal(t, []string{"written", "said", complaint, "said", "said", "said", "said"}, said)
}

// Where a job stands is said every ten seconds, however fast or slow its epochs are;
// a slow epoch says it by itself.
func TestTellerSpeaksSeldom(t *testing.T) {
	now := time.Unix(0, 0)
	tell := func(drawn bool, epochTime time.Duration) (infos []string, details int) {
		core, logs := observer.New(zapcore.DebugLevel)
		teller := newTeller(zap.New(core), func() time.Time { return now }, drawn)
		end := now.Add(100 * time.Second)
		next := now.Add(epochTime)
		for ; now.Before(end); now = now.Add(200 * time.Millisecond) {
			if !now.Before(next) {
				teller.epoch(trainer.Row{})
				next = next.Add(epochTime)
			}
			teller.watch(trainer.Progress{})
		}
		for _, e := range logs.All() {
			if e.Level == zapcore.DebugLevel {
				details++
			} else {
				infos = append(infos, e.Message)
			}
		}
		return infos, details
	}
	fast, details := tell(false, time.Second)
	require.Len(t, fast, 9)
	require.InDelta(t, 99, details, 10)
	slow, details := tell(false, 30*time.Second)
	require.Len(t, slow, 9)
	require.Contains(t, slow, "progress")
	require.LessOrEqual(t, details, 3)
	drawn, details := tell(true, time.Second)
	require.NotContains(t, drawn, "progress", "it is on the terminal")
	require.LessOrEqual(t, len(drawn), 10)
	require.Positive(t, details)
	rare, details := tell(true, 30*time.Second)
	require.Equal(t, []string{"epoch", "epoch", "epoch"}, rare)
	require.Zero(t, details)
}

// The line has what a person wants to know.
func TestTellerSaysWhereTheJobStands(t *testing.T) {
	core, logs := observer.New(zapcore.InfoLevel)
	now := time.Unix(0, 0)
	teller := newTeller(zap.New(core), func() time.Time { return now }, false)
	now = now.Add(time.Minute)
	teller.watch(trainer.Progress{Epoch: 3, Loss: 0.51234, Evaluated: true, Validation: trainer.Score{Accuracy: 0.75}, Time: 20 * time.Second, Left: 40 * time.Second,
		Devices: 2, Layers: 7, Parameters: 14826, Next: trainer.Event{At: 50 * time.Second, Change: trainer.Down, Devices: 1}})
	require.Equal(t, map[string]any{"epoch": int64(3), "loss": 0.5123, "validation": 0.75, "time": 20 * time.Second, "left": 40 * time.Second, "devices": int64(2),
		"layers": int64(7), "parameters": int64(14826), "next": "down to 1 at 50.0 s"}, logs.All()[0].ContextMap())
}
