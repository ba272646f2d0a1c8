package files

import (
	"errors"
	"io"
	"io/fs"
)

// ErrReadOnly is what everything that would change a file system ends with that is
// there to be looked at only.
var ErrReadOnly = errors.New("it is only looked at here, and nothing of it is changed")

// ReadOnly is a file system that is only looked at: whoever is handed it cannot write,
// lock, move or delete, whatever he calls. A folder that was to be made and is there is
// no error. It has no useful zero value.
type ReadOnly struct {
	FS // which is looked at
}

var _ FS = ReadOnly{}

func refused(op, path string) error { return &fs.PathError{Op: op, Path: path, Err: ErrReadOnly} }

// Create fails.
func (ReadOnly) Create(path string) (File, error) { return nil, refused("create", path) }

// Append fails.
func (ReadOnly) Append(path string) (File, error) { return nil, refused("append to", path) }

// Rename fails.
func (ReadOnly) Rename(from, _ string) error { return refused("rename", from) }

// Link fails.
func (ReadOnly) Link(from, _ string) error { return refused("link", from) }

// Remove fails.
func (ReadOnly) Remove(path string) error { return refused("remove", path) }

// MkdirAll fails where the folder is not there.
func (r ReadOnly) MkdirAll(path string) error {
	info, err := r.Stat(path)
	if err == nil && info.IsDir() {
		return nil
	}
	return errors.Join(refused("make", path), err)
}

// SyncDir does nothing: nothing was written.
func (ReadOnly) SyncDir(string) error { return nil }

// Lock fails.
func (ReadOnly) Lock(path, _ string) (io.Closer, error) { return nil, refused("lock", path) }
