// Package files is the interface between graft and the file system.
//
// All writes of graft go through an [FS], so that a test can inject a fault at any operation, and through
// [WriteAtomic], so that a result reaches the disk whole or not at all.
package files

import (
	"io"
	"io/fs"
)

// File is an open file of an [FS]. Only the FS makes it; the zero value is not useful. The open call determines the
// permitted operations: a file from Open is read, a file from Create or Append is written.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	// Stat returns information about the open file.
	Stat() (fs.FileInfo, error)
	// Sync returns once the written bytes are on stable storage.
	Sync() error
}

// FS is the part of a file system that graft uses. Paths are paths of the operating system. Errors wrap
// [fs.ErrNotExist] and [fs.ErrExist] as in package os.
type FS interface {
	// Open opens an existing regular file for reading. It never blocks: for a folder, FIFO, socket or device the error
	// wraps ErrNotRegular.
	Open(path string) (File, error)
	// Create makes a new file for writing, and fails with fs.ErrExist if it exists: use WriteAtomic to replace a file.
	Create(path string) (File, error)
	// CreatePrivate is Create for a file that only this user can read.
	CreatePrivate(path string) (File, error)
	// Append opens a regular file for writing at its end, and makes it if absent. Like Open it never blocks.
	Append(path string) (File, error)
	// Rename moves a file, replacing any file at the new path.
	Rename(from, to string) error
	// Link gives a file a second name, and fails with fs.ErrExist if the name is
	// taken: of several callers, also on several machines, one succeeds.
	Link(from, to string) error
	// Remove deletes one file or one empty folder.
	Remove(path string) error
	// MkdirAll makes a folder with its parents; an existing folder is not an error.
	MkdirAll(path string) error
	// MkdirTemp makes a folder in parent with a new name that begins with prefix, and returns its path. Only this user
	// can read it. An empty parent means the system's temporary folder. The caller deletes it, see RemoveAll.
	MkdirTemp(parent, prefix string) (string, error)
	// ReadDir lists a folder, sorted by name.
	ReadDir(path string) ([]fs.DirEntry, error)
	// Stat returns information about a path, following symbolic links.
	Stat(path string) (fs.FileInfo, error)
	// SyncDir makes the names in a folder durable across a power failure.
	SyncDir(path string) error
	// Lock takes the exclusive lock of the file at path, and makes the file if absent. The lock is held until it is
	// closed or the process ends. If another process holds it, Lock fails at once with an error that wraps ErrLocked
	// and names the holder.
	Lock(path, holder string) (io.Closer, error)
	// Locked reports whether the lock of the file at path is held; false for an absent file. Concurrent calls do not
	// delay each other.
	Locked(path string) (bool, error)
}
