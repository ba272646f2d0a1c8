package results_test

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/results"
)

// seen is the readable content of a run folder.
type seen struct {
	Manifest results.Manifest
	Tables   map[string]*results.Table
	Logs     map[string][]json.RawMessage
	Outcome  json.RawMessage // nil before the end
}

// look reads a run's folder, also during a write.
func look(t testing.TB, path string) *seen {
	t.Helper()
	s := &seen{Tables: map[string]*results.Table{}, Logs: map[string][]json.RawMessage{}}
	var err error
	s.Manifest, err = results.ReadManifest(files.OS{}, path)
	require.NoError(t, err)
	entries, err := filepath.Glob(filepath.Join(path, "*"))
	require.NoError(t, err)
	for _, entry := range entries {
		switch name := filepath.Base(entry); filepath.Ext(name) {
		case ".csv":
			s.Tables[strings.TrimSuffix(name, ".csv")], err = results.ReadStream(files.OS{}, entry)
		case ".jsonl":
			s.Logs[strings.TrimSuffix(name, ".jsonl")], err = results.ReadJSONLines[json.RawMessage](files.OS{}, entry)
		}
		require.NoError(t, err)
	}
	if err := results.ReadOutcome(files.OS{}, path, &s.Outcome); err != nil {
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	return s
}

// A run reads back, also during the run.
func TestARunIsReadBack(t *testing.T) {
	run := newRun(t)
	stream, err := run.Stream("epochs", columns)
	require.NoError(t, err)
	require.NoError(t, stream.Append(1, 0.5, "up", true))
	require.NoError(t, appendJSON(run, "events", map[string]int{"epoch": 1}))
	require.NoError(t, run.SaveCheckpoint("epoch-1", nothing))
	require.Nil(t, look(t, run.Path("")).Outcome)
	require.NoError(t, run.WriteOutcome(map[string]string{"end": "budget"}))
	s := look(t, run.Path(""))
	want := manifest
	want.Format, want.ConfigSHA256 = 1, s.Manifest.ConfigSHA256
	require.Len(t, want.ConfigSHA256, 64)
	require.Equal(t, want, s.Manifest)
	require.Equal(t, want, reopen(t, run).Manifest())
	require.Equal(t, options.Config, read(t, run.Path("config.toml")))
	require.Equal(t, options.Resolved, read(t, run.Path("config.resolved.toml")))
	require.Equal(t, 1, s.Tables["epochs"].Rows)
	require.Equal(t, []json.RawMessage{json.RawMessage(`{"epoch":1}`)}, s.Logs["events"])
	require.JSONEq(t, `{"end": "budget"}`, string(s.Outcome))

	write(t, "{", run.Path("outcome.json"))
	err = results.ReadOutcome(files.OS{}, run.Path(""), new(any))
	require.ErrorContains(t, err, "outcome.json")
	require.NotErrorIs(t, err, fs.ErrNotExist, "a damaged outcome is not a missing one")
}
