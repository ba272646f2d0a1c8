package results_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/results"
)

// manifest has every field.
var manifest = results.Manifest{
	Created: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), Graft: "1.2.3", Seed: 1<<64 - 1, Device: "cuda:0",
	Profile: "v100", DatasetSHA256: "d0", Network: "ConvNet2", Host: "here", CommandLine: []string{"graft", "run"},
}

var options = results.CreateOptions{Config: "seed = 1\n", Resolved: "seed = 1\nbatch = 64\n"}

// newRun creates a run in a new folder.
func newRun(t testing.TB) *results.Run {
	run, err := results.Create(files.OS{}, filepath.Join(t.TempDir(), "run"), options, manifest)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, run.Close()) })
	return run
}

// reopen closes a run and opens it again.
func reopen(t testing.TB, run *results.Run) *results.Run {
	require.NoError(t, run.Close())
	again, err := results.Open(files.OS{}, run.Path(""))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, again.Close()) })
	return again
}

func write(t testing.TB, text string, path ...string) {
	name := filepath.Join(path...)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}

func read(t testing.TB, path ...string) string {
	data, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(data)
}

// Create depends on the contents of the folder.
func TestCreateOnWhatIsThere(t *testing.T) {
	cases := map[string]struct {
		there  map[string]string // files by name
		taken  bool              // Create succeeds without Force
		refuse string
	}{
		"nothing":         {taken: true},
		"an empty folder": {there: map[string]string{"": ""}, taken: true},
		"a run whose creation was cut short": {there: map[string]string{"lock": "", "config.toml": "x",
			".manifest.json.0.tmp": "{"}, taken: true},
		"a run": {there: map[string]string{"manifest.json": "{}", "lock": ""},
			refuse: "resume its run"},
		"a folder with work of another": {there: map[string]string{"thesis.tex": "…"},
			refuse: "the folder already exists and is not a run folder"},
		"a folder with a configuration only": {there: map[string]string{"config.toml": "x"},
			refuse: "the folder already exists and is not a run folder"},
		"half a run with a file of the user's": {there: map[string]string{"lock": "", "notes.txt": "x"},
			refuse: "the folder already exists and is not a run folder"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run")
			for file, text := range c.there {
				if file == "" {
					require.NoError(t, os.Mkdir(path, 0o700))
					continue
				}
				write(t, text, path, file)
			}
			run, err := results.Create(files.OS{}, path, options, manifest)
			if !c.taken {
				require.ErrorIs(t, err, results.ErrExists)
				require.ErrorContains(t, err, c.refuse)
				require.ErrorContains(t, err, `option "force"`)
				force := options
				force.Force = true
				run, err = results.Create(files.OS{}, path, force, manifest)
				for file, text := range c.there {
					if file != "lock" {
						assert.Equal(t, text, read(t, path+".1", file))
					}
				}
			}
			require.NoError(t, err)
			require.NoError(t, run.Close())
			assert.Equal(t, options.Config, read(t, path, "config.toml"))
			left, err := filepath.Glob(filepath.Join(path, ".*.tmp"))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

func TestCreateRefusesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	write(t, "text", path)
	_, err := results.Create(files.OS{}, path, results.CreateOptions{Force: true}, manifest)
	require.ErrorContains(t, err, "a file with this name already exists")
	assert.Equal(t, "text", read(t, path))
}

func TestForceKeepsEveryRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	for seed := range uint64(4) {
		run, err := results.Create(files.OS{}, path, results.CreateOptions{Force: true}, results.Manifest{Seed: seed})
		require.NoError(t, err)
		require.NoError(t, run.Close())
	}
	assert.Equal(t, map[string]uint64{"run.1": 0, "run.2": 1, "run.3": 2, "run": 3}, seedsIn(t, filepath.Dir(path)))
}

// seedsIn returns the seeds of the runs in a folder, by run name.
func seedsIn(t *testing.T, dir string) map[string]uint64 {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	seeds := map[string]uint64{}
	for _, e := range entries {
		if m, err := results.ReadManifest(files.OS{}, filepath.Join(dir, e.Name())); err == nil {
			seeds[e.Name()] = m.Seed
		}
	}
	return seeds
}

func TestARunHasOneWriter(t *testing.T) {
	run := newRun(t)
	_, err := results.Open(files.OS{}, run.Path(""))
	require.ErrorIs(t, err, files.ErrLocked)
	require.ErrorContains(t, err, "locked by process ")
	_, err = results.Create(files.OS{}, run.Path(""), results.CreateOptions{Force: true}, manifest)
	require.ErrorIs(t, err, files.ErrLocked, "it must not be moved away")
	require.Equal(t, manifest.Seed, look(t, run.Path("")).Manifest.Seed, "to read is free")
	reopen(t, run)
}

func TestOpenWantsARun(t *testing.T) {
	dir := t.TempDir()
	_, err := results.Open(files.OS{}, dir)
	require.ErrorIs(t, err, results.ErrNoRun)
	_, err = results.Open(files.OS{}, filepath.Join(dir, "none"))
	require.ErrorIs(t, err, results.ErrNoRun)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries, "a folder that is not ours is left alone")
	for text, say := range map[string]string{
		`{"format": 2, "graft": "9.0"}`: `use the version of graft that wrote it, "9.0"`,
		`{"format": 0}`:                 "unsupported format 0",
		`{`:                             "manifest.json",
	} {
		write(t, text, dir, "manifest.json")
		_, err = results.Open(files.OS{}, dir)
		require.ErrorContains(t, err, say)
		_, err = results.Open(files.OS{}, dir)
		require.NotErrorIs(t, err, files.ErrLocked, "a failed Open gives the lock back")
	}
}

func TestAClosedRunTakesNothing(t *testing.T) {
	run := newRun(t)
	stream, err := run.Stream("epochs", columns)
	require.NoError(t, err)
	require.NoError(t, run.Close())
	require.NoError(t, run.Close())
	assert.ErrorContains(t, stream.Append(1, 2.0, "x", true), "the run is closed")
	assert.ErrorContains(t, appendJSON(run, "events", 1), "the run is closed")
	assert.ErrorContains(t, run.WriteOutcome(1), "the run is closed")
	assert.ErrorContains(t, run.SaveCheckpoint("x", nothing), "the run is closed")
	assert.ErrorContains(t, run.Rewind(nil), "the run is closed")
}

// appendJSON appends a value to a log.
func appendJSON(run *results.Run, name string, v any) error {
	lines, err := run.Lines(name)
	if err == nil {
		err = lines.Append(v)
	}
	return err
}
