package files_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/files/faults"
)

// Errors of a full disk say what to do, once, and keep their cause.
func TestErrorsOfAFullDiskHaveARemedy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	counting := faults.New(files.OS{}, 0, faults.Fail)
	write := func(fsys files.FS) error {
		return files.WriteAtomic(fsys, path, func(w io.Writer) error { _, err := w.Write([]byte("text")); return err })
	}
	require.NoError(t, write(counting))
	for n, op := range counting.Ops() {
		err := write(faults.New(files.OS{}, n+1, faults.DiskFull))
		if !errors.Is(err, syscall.ENOSPC) {
			continue // the operation needs no space
		}
		assert.ErrorContains(t, err, "(free space on this disk", op)
	}
}

func TestRemedies(t *testing.T) {
	plain := &fs.PathError{Op: "write", Path: "a", Err: syscall.EROFS}
	err := files.WithRemedy(plain)
	assert.EqualError(t, err,
		"write a: read-only file system (use a folder on a disk that is mounted for writing)")
	require.ErrorIs(t, err, syscall.EROFS)
	var at *fs.PathError
	require.ErrorAs(t, err, &at)
	assert.Equal(t, err, files.WithRemedy(err), "a second call changes nothing")
	outer := fmt.Errorf("save: %w", err)
	assert.Equal(t, outer, files.WithRemedy(outer))

	assert.ErrorContains(t, files.WithRemedy(errors.Join(errors.New("first"), syscall.ENOSPC)), "free space")
	assert.NoError(t, files.WithRemedy(nil))
	assert.Equal(t, fs.ErrNotExist, files.WithRemedy(fs.ErrNotExist))
}

// TryWrite fails exactly if a small file cannot be written, and leaves nothing.
func TestTryWrite(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a")
	counting := faults.New(files.OS{}, 0, faults.Fail)
	require.NoError(t, files.TryWrite(counting, path))
	for n := range counting.Ops() {
		assert.ErrorIs(t, files.TryWrite(faults.New(files.OS{}, n+1, faults.Fail), path), faults.ErrInjected)
	}
	files.RemoveLeftovers(files.OS{}, folder) // of the failed deletion
	require.ErrorContains(t, files.TryWrite(faults.New(files.OS{}, 1, faults.DiskFull), path), "free space")
	assert.NoFileExists(t, path)
}
