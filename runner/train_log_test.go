package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/results/failure"
	"graft/work/control"
)

// recordOf is the log in a run folder, by messages and levels.
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

// The run folder has the whole log, also of a quiet job, from the first line on; a
// resumed job goes on with it, behind a line that was cut short.
func TestTrainKeepsTheWholeLog(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	first := done(t, brief(folder)...)
	require.Empty(t, first.stderr)
	all := recordOf(t, folder)
	require.Equal(t, "info images are on the device", all[0])
	require.Equal(t, "info start", all[1])
	require.Equal(t, "info end", all[len(all)-1])
	containsAll(t, all, "info up", "info decision", "info down", "info shrink", "debug epoch")
	path := filepath.Join(folder, "log.jsonl")
	write(t, path, contents(t, path)+`{"level":"inf`)
	for _, name := range []string{control.AddressFile, control.TokenFile} { // of a process that was killed
		write(t, filepath.Join(folder, name), "old")
	}
	require.Equal(t, failure.Done, graft(brief(folder, "--resume")...).code)
	require.NoFileExists(t, filepath.Join(folder, control.AddressFile))
	require.NoFileExists(t, filepath.Join(folder, control.TokenFile))
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
	o := done(t, brief(folder, "--resume")...)
	require.Equal(t, []string{"the log in the run folder cannot be written; the job goes on without it"}, messages(t, o.stderr))
}
