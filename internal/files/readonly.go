package files

import (
	"errors"
	"io"
	"io/fs"
)

// ErrReadOnly is wrapped by the errors that a [ReadOnly] file system returns for operations that would modify files.
var ErrReadOnly = errors.New("the file system is opened read-only")

// ReadOnly wraps a file system and rejects every operation that would write, lock, move or delete a file. MkdirAll of
// an existing folder is not an error. The zero value cannot be used.
type ReadOnly struct {
	FS // the file system to protect
}

var _ FS = ReadOnly{}

func refused(op, path string) error { return &fs.PathError{Op: op, Path: path, Err: ErrReadOnly} }

// Create always fails.
func (ReadOnly) Create(path string) (File, error) { return nil, refused("create", path) }

// CreatePrivate always fails.
func (ReadOnly) CreatePrivate(path string) (File, error) { return nil, refused("create", path) }

// Append always fails.
func (ReadOnly) Append(path string) (File, error) { return nil, refused("append to", path) }

// Rename always fails.
func (ReadOnly) Rename(from, _ string) error { return refused("rename", from) }

// Link always fails.
func (ReadOnly) Link(from, _ string) error { return refused("link", from) }

// Remove always fails.
func (ReadOnly) Remove(path string) error { return refused("remove", path) }

// MkdirAll fails if the folder does not exist.
func (r ReadOnly) MkdirAll(path string) error {
	info, err := r.Stat(path)
	if err == nil && info.IsDir() {
		return nil
	}
	return errors.Join(refused("make", path), err)
}

// MkdirTemp always fails.
func (ReadOnly) MkdirTemp(parent, _ string) (string, error) {
	return "", refused("create a temporary folder in", parent)
}

// SyncDir does nothing, since nothing was written.
func (ReadOnly) SyncDir(string) error { return nil }

// Lock always fails.
func (ReadOnly) Lock(path, _ string) (io.Closer, error) { return nil, refused("lock", path) }
