package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/files"
)

// Any TOML file reads as a list of keys and texts.
func TestReadSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.toml")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write("top = 1\n[b]\nx = \"a text\"\nlist = [1, 2.0]\nwhen = [{at = \"1s\", change = \"up\"}]\n[b.c]\non = true\n" +
		"[a]\nrate = 1e-3\n")
	list, err := config.Open(files.OS{}, path).Settings()
	require.NoError(t, err)
	require.Equal(t, []config.Setting{
		{Key: "a.rate", Text: "0.001"}, {Key: "b.c.on", Text: "true"}, {Key: "b.list", Text: "[1, 2.0]"},
		{Key: "b.when", Text: `[{"at":"1s","change":"up"}]`}, {Key: "b.x", Text: "a text"}, {Key: "top", Text: "1"},
	}, list)

	write("this is\nno TOML")
	_, err = config.Open(files.OS{}, path).Settings()
	var faults config.Faults
	require.ErrorAs(t, err, &faults)
	_, err = config.Open(files.OS{}, path+".none").Settings()
	require.ErrorIs(t, err, os.ErrNotExist)
}

// The resolved text of a job reads back as the job's values.
func TestSettingsOfAJobAreItsValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "job.toml")
	job, err := config.ReadJob(files.OS{}, "", nil)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(job.Resolved()), 0o600))
	list, err := config.Open(files.OS{}, path).Settings()
	require.NoError(t, err)
	require.Len(t, list, len(config.Values(job)))
}
