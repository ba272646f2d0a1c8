package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// No call changes a read-only file system.
func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	require.NoError(t, os.WriteFile(path, []byte("text"), 0o600))
	r := files.ReadOnly{FS: files.OS{}}

	text, err := files.ReadAll(r, path, 100)
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
	require.NoError(t, r.MkdirAll(dir))
	require.NoError(t, r.SyncDir(dir))

	other := filepath.Join(dir, "b")
	_, created := r.Create(other)
	_, appended := r.Append(path)
	_, private := r.CreatePrivate(other)
	_, temporary := r.MkdirTemp(dir, "a")
	_, locked := r.Lock(other, "me")
	for what, err := range map[string]error{
		"create": created, "create a private file": private, "make a temporary folder": temporary, "append": appended,
		"lock": locked, "rename": r.Rename(path, other),
		"link": r.Link(path, other), "remove": r.Remove(path), "make a folder": r.MkdirAll(other),
		"make one of a file": r.MkdirAll(path),
	} {
		require.ErrorIs(t, err, files.ErrReadOnly, what)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
