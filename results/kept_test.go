package results_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/results"
)

// sourceRun is a run with a checkpoint kept after its first row, a second row, and a newer checkpoint.
func sourceRun(t testing.TB) *results.Run {
	run := newRun(t)
	s, err := run.Stream("epochs", columns)
	require.NoError(t, err)
	require.NoError(t, s.Append(1, 1.0, "", true))
	require.NoError(t, run.KeepCheckpoint("first", sections("kept")))
	require.NoError(t, s.Append(2, 2.0, "", true))
	require.NoError(t, run.SaveCheckpoint("job", sections("newest")))
	return run
}

func openKept(t testing.TB, run *results.Run) *results.Checkpoint {
	paths, err := results.KeptCheckpoints(files.OS{}, run.Path(""))
	require.NoError(t, err)
	require.Equal(t, []string{run.Path("kept/first.ckpt")}, paths)
	c, err := results.ReadCheckpoint(files.OS{}, paths[0])
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// A fork has the rows before the kept checkpoint, and its own rows after it. The run itself resumes from its newest
// checkpoint.
func TestFork(t *testing.T) {
	source := sourceRun(t)
	text, _ := loaded(t, source)
	require.Equal(t, "newest", text)
	kept := openKept(t, source)
	fork := newRun(t)
	require.NoError(t, fork.Fork(source.Path(""), kept))
	s, err := fork.Stream("epochs", columns)
	require.NoError(t, err)
	require.NoError(t, fork.Rewind(kept))
	require.Equal(t, 1, s.Rows())
	require.NoError(t, s.Append(3, 3.0, "", true))
	table, err := results.ReadStream(files.OS{}, fork.Path("epochs.csv"))
	require.NoError(t, err)
	require.Equal(t, 2, table.Rows)
	require.ErrorContains(t, fork.Fork(source.Path(""), kept), "is already open")

	require.NoError(t, results.RemoveKept(files.OS{}, source.Path("")))
	paths, err := results.KeptCheckpoints(files.OS{}, source.Path(""))
	require.NoError(t, err)
	require.Empty(t, paths)
	require.NoError(t, results.RemoveKept(files.OS{}, source.Path("")), "nothing to remove")
}

// A table that no longer has the rows of the checkpoint is refused, and nothing is copied.
func TestForkFromChangedTables(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"another row": func(path string) error { return os.WriteFile(path, []byte("a,b,c,d\n9,9,,true\n"), 0o600) },
		"no rows":     func(path string) error { return os.Truncate(path, 0) },
		"no table":    os.Remove,
	} {
		source := sourceRun(t)
		kept := openKept(t, source)
		require.NoError(t, change(source.Path("epochs.csv")))
		fork := newRun(t)
		require.ErrorContains(t, fork.Fork(source.Path(""), kept), "epochs.csv", name)
		require.NoFileExists(t, filepath.Join(fork.Path(""), "epochs.csv"), name)
	}
	run := newRun(t)
	require.ErrorContains(t, run.KeepCheckpoint("../out", sections("")), "keep checkpoint")
}
