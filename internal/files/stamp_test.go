package files

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A stamp changes with every file below a folder, also if the size and the time of the file stay.
func TestStampsFollowFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a", "one")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	old := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	write := func(path, text string) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, os.Chtimes(path, old, old))
	}
	seen := map[string]string{}
	fresh := func(what string) {
		t.Helper()
		digest, latest, err := Stamp(OS{}, dir, filepath.Join(dir, "absent"))
		require.NoError(t, err)
		require.True(t, latest.Equal(old) || latest.After(old))
		require.NotContains(t, seen, digest, what)
		seen[digest] = what
		again, _, err := Stamp(OS{}, dir, filepath.Join(dir, "absent"))
		require.NoError(t, err)
		require.Equal(t, digest, again)
	}
	write(file, "text")
	fresh("first")
	write(filepath.Join(dir, "copy"), "TEXT")
	fresh("a second file")
	require.NoError(t, os.Rename(filepath.Join(dir, "copy"), file))
	fresh("another file of the same size and time")
	require.NoError(t, os.Symlink(filepath.Join(dir, "a"), filepath.Join(dir, "link")))
	fresh("a link")
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "a", "cycle")))
	_, _, err := Stamp(OS{}, dir)
	require.Error(t, err, "a cycle of links")
}
