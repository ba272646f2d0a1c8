package faults_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/files/faults"
)

// large takes several writes, so faults can occur between them.
var large = bytes.Repeat([]byte("new content "), 20_000)

func writeLarge(w io.Writer) error {
	_, err := w.Write(large)
	return err
}

// newFolder returns a path that holds the old content.
func newFolder(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "result")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	return path
}

func TestWriteAtomicWithoutFaults(t *testing.T) {
	path := newFolder(t)
	fsys := faults.New(files.OS{}, 0, faults.Fail)
	require.NoError(t, files.WriteAtomic(fsys, path, writeLarge))
	assert.Equal(t, large, read(t, path))
	assert.False(t, fsys.Fired())
	assert.Empty(t, temps(t, path))
}

// A write with a fault at any operation leaves the old content or the new content.
func TestWriteAtomicAtEveryFault(t *testing.T) {
	for _, kind := range []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash} {
		t.Run(kind.String(), func(t *testing.T) {
			at := 1
			for ; writeWithFault(t, at, kind); at++ {
			}
			assert.Greater(t, at, 6, "create, write, sync, close, rename, syncdir")
		})
	}
}

// writeWithFault writes with a fault at one operation, and reports whether the operation was reached.
func writeWithFault(t *testing.T, at int, kind faults.Kind) bool {
	path := newFolder(t)
	fsys := faults.New(files.OS{}, at, kind)
	err := files.WriteAtomic(fsys, path, writeLarge)
	switch {
	case err == nil, errors.Is(err, files.ErrNotDurable):
		assert.Equal(t, large, read(t, path), "at %d", at)
	default:
		assert.ErrorIs(t, err, faults.ErrInjected, "at %d", at)
		assert.ErrorContains(t, err, path)
		assert.Equal(t, "old", string(read(t, path)), "at %d", at)
	}
	if kind != faults.Crash { // a crashed process removes nothing
		assert.Empty(t, temps(t, path), "at %d", at)
	}
	return fsys.Fired()
}

// A new file with a fault at any operation is complete or missing.
func TestWriteNewAtEveryFault(t *testing.T) {
	for _, kind := range []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash} {
		fired, at := true, 1
		for ; fired; at++ {
			path := filepath.Join(t.TempDir(), "result")
			fsys := faults.New(files.OS{}, at, kind)
			err := files.WriteNew(fsys, path, writeLarge)
			_, missing := os.Stat(path)
			switch {
			case err == nil, errors.Is(err, files.ErrNotDurable):
				assert.Equal(t, large, read(t, path), "%v at %d", kind, at)
			default:
				assert.ErrorIs(t, err, faults.ErrInjected, "%v at %d", kind, at)
				assert.ErrorIs(t, missing, os.ErrNotExist, "%v at %d", kind, at)
			}
			fired = fsys.Fired()
		}
		assert.Greater(t, at, 7, "create, write, sync, close, link, remove, syncdir")
	}
}

func TestFailedRemovalLeavesOnlyTheTemporaryFile(t *testing.T) {
	path := newFolder(t)
	fsys := faults.New(files.OS{}, 3, faults.Fail) // create, close, remove
	err := files.WriteAtomic(fsys, path, func(io.Writer) error { return os.ErrInvalid })
	require.ErrorIs(t, err, os.ErrInvalid)
	require.Equal(t, "remove", fsys.Ops()[2].Name)
	assert.Equal(t, "old", string(read(t, path)))
	assert.Len(t, temps(t, path), 1)
}

func TestDiskFullSaysSo(t *testing.T) {
	fsys := faults.New(files.OS{}, 1, faults.DiskFull)
	err := files.WriteAtomic(fsys, newFolder(t), writeLarge)
	assert.ErrorIs(t, err, syscall.ENOSPC)
}

func TestEveryOperationIsCounted(t *testing.T) {
	dir := t.TempDir()
	fsys := faults.New(files.OS{}, 0, faults.Fail)
	require.NoError(t, fsys.MkdirAll(filepath.Join(dir, "a")))
	file, err := fsys.Append(filepath.Join(dir, "a", "log"))
	require.NoError(t, err)
	_, err = file.Stat()
	require.NoError(t, err)
	require.NoError(t, file.Close())
	lock, err := fsys.Lock(filepath.Join(dir, "lock"), "a test")
	require.NoError(t, err)
	require.NoError(t, lock.Close())
	require.NoError(t, fsys.Link(filepath.Join(dir, "a", "log"), filepath.Join(dir, "b")))
	_, err = fsys.Stat(dir)
	require.NoError(t, err)
	_, err = fsys.ReadDir(dir)
	require.NoError(t, err)
	_, err = files.ReadAll(fsys, filepath.Join(dir, "a", "log"), 0)
	require.NoError(t, err)
	var names []string
	for _, op := range fsys.Ops() {
		names = append(names, op.Name)
	}
	assert.Equal(t, []string{"mkdirall", "append", "fstat", "close", "lock", "link", "stat", "readdir",
		"open", "fstat", "read", "close"}, names)
}

func TestLocksMeetFaults(t *testing.T) {
	for _, kind := range []faults.Kind{faults.Fail, faults.DiskFull, faults.Crash} {
		_, err := faults.New(files.OS{}, 1, kind).Lock(filepath.Join(t.TempDir(), "lock"), "a test")
		assert.ErrorIs(t, err, faults.ErrInjected, kind)
	}
}

func read(t *testing.T, path string) []byte {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

func temps(t *testing.T, path string) []string {
	found, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*.tmp"))
	require.NoError(t, err)
	return found
}
