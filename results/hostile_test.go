package results_test

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/results"
)

// readers holds all readers of a run's files, by file name.
var readers = map[string]func(fsys files.FS, path string) error{
	"epochs.csv": func(fsys files.FS, path string) error { _, err := results.ReadStream(fsys, path); return err },
	"tail.csv": func(fsys files.FS, path string) error {
		_, err := results.ReadStreamTail(fsys, path, 3)
		return err
	},
	"events.jsonl": func(fsys files.FS, path string) error {
		_, err := results.ReadJSONLines[any](fsys, path)
		return err
	},
	"x.ckpt": func(fsys files.FS, path string) error { _, err := results.ReadCheckpoint(fsys, path); return err },
	results.ManifestFile: func(fsys files.FS, path string) error {
		_, err := results.ReadManifest(fsys, filepath.Dir(path))
		return err
	},
	results.OutcomeFile: func(fsys files.FS, path string) error {
		return results.ReadOutcome(fsys, filepath.Dir(path), new(any))
	},
	"streams.json": func(fsys files.FS, path string) error {
		_, err := results.ReadRegistry(fsys, filepath.Dir(path))
		return err
	},
}

// A reader does not wait for a FIFO, read an oversized file, or follow a link out of the folder.
func TestReadersRefuseHostileFiles(t *testing.T) {
	const tooLarge = 1<<30 + 1
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("a\n"), 0o600))
	for name, read := range readers {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, syscall.Mkfifo(path, 0o600))
		require.ErrorIs(t, read(files.OS{}, path), files.ErrNotRegular, name)
		require.NoError(t, os.Remove(path))

		require.NoError(t, os.Symlink(secret, path))
		require.ErrorContains(t, read(files.Beneath(filepath.Dir(path)), path), "escapes", name)
		require.NoError(t, os.Remove(path))

		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Truncate(path, tooLarge))
		require.Error(t, read(files.OS{}, path), name)
	}
}

// Opening a run keeps the temporary file of another process that writes into the folder, and removes the run's own
// leftovers.
func TestOpenLeavesWhatOthersAreWriting(t *testing.T) {
	run := newRun(t)
	stream, err := run.Stream("epochs", []results.Column{{Name: "a"}})
	require.NoError(t, err)
	require.NoError(t, stream.Append(1.0))
	folder := run.Path("")
	require.NoError(t, run.Close())
	own := []string{".outcome.json.0.tmp", ".epochs.csv.12.tmp", "checkpoints/.000001-a.ckpt.0.tmp"}
	for _, name := range own {
		write(t, "half", folder, name)
	}
	require.NoError(t, files.WriteAtomic(files.OS{}, filepath.Join(folder, "fleet.json"), func(w io.Writer) error {
		again, err := results.Open(files.OS{}, folder)
		if err == nil {
			err = again.Close()
		}
		return err
	}))
	for _, name := range own {
		assert.NoFileExists(t, filepath.Join(folder, name))
	}
	assert.FileExists(t, filepath.Join(folder, "fleet.json"))
}

func TestEventsOfJobs(t *testing.T) {
	seen := map[results.JobEvent]bool{}
	for _, e := range results.JobEvents() {
		assert.False(t, seen[e], "%s stands twice", e)
		assert.NotEmpty(t, e.Traits().About, e)
		seen[e] = true
	}
	assert.Equal(t, results.Up, results.EventUp.Traits().Look)
	assert.Equal(t, results.JobEvent("peer lost"), results.EventPeerLost, "files have this name")
	assert.Zero(t, results.JobEvent("unknown").Traits(), "a plain event that is shown everywhere")
}
