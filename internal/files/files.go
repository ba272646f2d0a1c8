// Package files is the seam between graft and the file system.
//
// Everything that graft writes goes through an [FS], so that a test can put a
// fault at any operation, and through [WriteAtomic], so that a result reaches
// the disk whole or not at all.
package files

import (
	"io"
	"io/fs"
)

// File is an open file of an [FS]. It is made by the FS and has no useful zero
// value. What it may do follows from how it was opened: a file from Open is
// read, a file from Create or Append is written.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	// Stat describes the open file.
	Stat() (fs.FileInfo, error)
	// Sync returns once the written bytes are on stable storage.
	Sync() error
}

// FS is the part of a file system that graft uses. Paths are those of the
// operating system. Errors wrap [fs.ErrNotExist] and [fs.ErrExist] as package
// os does.
type FS interface {
	// Open opens an existing regular file for reading. It never blocks: a folder,
	// FIFO, socket or device is an error that wraps ErrNotRegular.
	Open(path string) (File, error)
	// Create makes a new file for writing, and fails with fs.ErrExist where
	// there is one: to replace a file is the work of WriteAtomic.
	Create(path string) (File, error)
	// CreatePrivate is Create for a file that only this user can read.
	CreatePrivate(path string) (File, error)
	// Append opens a regular file for writing at its end, and makes it where
	// absent. Like Open it never blocks.
	Append(path string) (File, error)
	// Rename moves a file, replacing what is at the new path.
	Rename(from, to string) error
	// Link gives a file a second name, and fails with fs.ErrExist if the name is
	// taken: of several callers, also on several machines, one succeeds.
	Link(from, to string) error
	// Remove deletes one file or one empty folder.
	Remove(path string) error
	// MkdirAll makes a folder and those above it; one that exists is no error.
	MkdirAll(path string) error
	// MkdirTemp makes a folder in parent under a new name that begins with prefix,
	// and returns its path. Only this user can read it. An empty parent stands for
	// the system's temporary folder. The caller deletes it, see RemoveAll.
	MkdirTemp(parent, prefix string) (string, error)
	// ReadDir lists a folder, sorted by name.
	ReadDir(path string) ([]fs.DirEntry, error)
	// Stat describes what is at a path, following symbolic links.
	Stat(path string) (fs.FileInfo, error)
	// SyncDir makes the names in a folder survive a power failure.
	SyncDir(path string) error
	// Lock takes the exclusive lock of the file at path, and makes the file where
	// absent. It is held until it is closed or the process ends. If another holds
	// it, Lock fails at once with an error that wraps ErrLocked and contains the
	// holder that the other has passed.
	Lock(path, holder string) (io.Closer, error)
	// Locked reports whether the lock of the file at path is held; that of an absent
	// file is not. Any number of callers may ask at once, and none delays another.
	Locked(path string) (bool, error)
}
