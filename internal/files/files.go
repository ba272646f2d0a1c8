// Package files is the interface between graft and the file system.
//
// All writes of graft use an [FS], so that a test can inject a fault into any operation, and [WriteAtomic], so that a
// result reaches the disk either completely or not at all.
package files

import (
	"io"
	"io/fs"
)

// File is an open file of an [FS]. Only an FS creates it; the zero value cannot be used. A file from Open can only be
// read, and a file from Create or Append can only be written.
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

// FS contains the file-system operations that graft uses. Paths use the operating system's syntax. Errors wrap
// [fs.ErrNotExist] and [fs.ErrExist], as in package os.
type FS interface {
	// Open opens an existing regular file for reading. It never blocks: for a folder, FIFO, socket or device, the error
	// wraps ErrNotRegular.
	Open(path string) (File, error)
	// Create creates a new file for writing. If the file exists, the error wraps fs.ErrExist; WriteAtomic replaces a
	// file.
	Create(path string) (File, error)
	// CreatePrivate is like Create, but only the current user can read the file.
	CreatePrivate(path string) (File, error)
	// Append opens a regular file for writing at its end, and creates it if it does not exist. Like Open it never
	// blocks.
	Append(path string) (File, error)
	// Rename moves a file, replacing any file at the new path.
	Rename(from, to string) error
	// Link creates a hard link: a second name for a file. If the name exists, the error wraps fs.ErrExist. If several
	// processes, on one or several machines, create the same name, only one succeeds.
	Link(from, to string) error
	// Remove deletes one file or one empty folder.
	Remove(path string) error
	// MkdirAll creates a folder with its parents. An existing folder is not an error.
	MkdirAll(path string) error
	// MkdirTemp creates a folder in parent with a new name that starts with prefix, and returns its path. Only the
	// current user can read the folder. An empty parent means the system's temporary folder. The caller must delete it,
	// for example with RemoveAll.
	MkdirTemp(parent, prefix string) (string, error)
	// ReadDir lists the entries of a folder, sorted by name.
	ReadDir(path string) ([]fs.DirEntry, error)
	// Stat returns information about a path, following symbolic links.
	Stat(path string) (fs.FileInfo, error)
	// SyncDir makes the names in a folder durable, so that they survive a power failure.
	SyncDir(path string) error
	// Lock acquires the exclusive lock of the file at path, and creates the file if it does not exist. The lock is held
	// until the returned Closer is closed or the process ends. If the lock is already held, Lock fails immediately with
	// an error that wraps ErrLocked and names the holder.
	Lock(path, holder string) (io.Closer, error)
	// Locked reports whether the lock of the file at path is held. It returns false if the file does not exist.
	// Concurrent calls do not delay each other.
	Locked(path string) (bool, error)
}
