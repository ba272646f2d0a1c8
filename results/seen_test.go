package results_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/files"
	"graft/results"
)

// seen is the readable content of a run folder.
type seen struct {
	Manifest results.Manifest
	Tables   map[string]*results.Table
	Logs     map[string][]json.RawMessage
	Outcome  json.RawMessage // nil before the end
}

// look reads a run's folder, also while it is written.
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

// A run reads back, also while it is written.
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
	require.Equal(t, run.Manifest(), s.Manifest)
	require.Equal(t, options.Config, read(t, run.Path("config.toml")))
	require.Equal(t, options.Resolved, read(t, run.Path("config.resolved.toml")))
	require.Equal(t, 1, s.Tables["epochs"].Rows)
	require.Equal(t, []json.RawMessage{json.RawMessage(`{"epoch":1}`)}, s.Logs["events"])
	require.JSONEq(t, `{"end": "budget"}`, string(s.Outcome))
}

// Damage is reported with its place, and does not hide the rest.
func TestDamageIsReadAsSuch(t *testing.T) {
	run := newRun(t)
	for _, name := range []string{"good", "bad"} {
		_, err := run.Stream(name, columns)
		require.NoError(t, err)
		require.NoError(t, appendJSON(run, name, 1))
	}
	write(t, "epoch,loss [nats]\n1\n", run.Path("bad.csv"))
	write(t, "1\n{\n", run.Path("bad.jsonl"))
	write(t, "{", run.Path("outcome.json"))
	_, err := results.ReadStream(files.OS{}, run.Path("bad.csv"))
	require.ErrorContains(t, err, "bad.csv:2: there are 2 columns and 1 values")
	_, err = results.ReadJSONLines[int](files.OS{}, run.Path("bad.jsonl"))
	require.ErrorContains(t, err, "bad.jsonl:2: ")
	var outcome any
	err = results.ReadOutcome(files.OS{}, run.Path(""), &outcome)
	require.ErrorContains(t, err, "outcome.json")
	require.False(t, errors.Is(err, fs.ErrNotExist))
	_, err = results.ReadStream(files.OS{}, run.Path("good.csv"))
	require.NoError(t, err)
	lines, err := results.ReadJSONLines[int](files.OS{}, run.Path("good.jsonl"))
	require.NoError(t, err)
	require.Equal(t, []int{1}, lines)
}
