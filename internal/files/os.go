package files

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Permissions of new files and folders before the umask of the process is applied. They are the shell's defaults, so
// the user's umask decides who can read results.
const (
	filePermissions   = 0o666
	folderPermissions = 0o777
	// privatePermissions restrict a file to its owner, whatever the umask is.
	privatePermissions = 0o600
)

// OS is the [FS] of the operating system. The zero value is ready to use.
type OS struct{}

var _ FS = OS{}

// Open opens an existing regular file for reading.
func (OS) Open(path string) (File, error) {
	return openRegular(path, os.Stat, func() (*os.File, error) { return openOS(path, os.O_RDONLY) })
}

// Create creates a new file for writing. It returns an error if the file exists.
func (OS) Create(path string) (File, error) {
	return asFile(openOS(path, os.O_RDWR|os.O_CREATE|os.O_EXCL))
}

// CreatePrivate creates a new file that only the current user can read.
func (OS) CreatePrivate(path string) (File, error) {
	return asFile(os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, privatePermissions))
}

// Append opens a regular file for writing at its end, and creates it if it does not exist.
func (OS) Append(path string) (File, error) {
	return openRegular(path, os.Stat,
		func() (*os.File, error) { return openOS(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND) })
}

// Rename moves a file, replacing any file at the new path.
func (OS) Rename(from, to string) error { return WithRemedy(os.Rename(from, to)) }

// Link creates a hard link: a second name for a file. It returns an error if the new path exists.
func (OS) Link(from, to string) error { return WithRemedy(os.Link(from, to)) }

// Remove deletes one file or one empty folder.
func (OS) Remove(path string) error { return os.Remove(path) }

// MkdirAll creates a folder with its parents.
func (OS) MkdirAll(path string) error { return WithRemedy(os.MkdirAll(path, folderPermissions)) }

// MkdirTemp creates a folder with a new name. Only the current user can read the folder.
func (OS) MkdirTemp(parent, prefix string) (string, error) {
	path, err := os.MkdirTemp(parent, prefix)
	return path, WithRemedy(err)
}

// ReadDir lists the entries of a folder, sorted by name.
func (OS) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

// Stat returns information about a path.
func (OS) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

// SyncDir makes the names in a folder durable, so that they survive a power failure.
func (OS) SyncDir(path string) error {
	dir, err := openOS(path, os.O_RDONLY|syscall.O_DIRECTORY)
	if err != nil {
		return err
	}
	return WithRemedy(errors.Join(dir.Sync(), dir.Close()))
}

// openOS opens without waiting for the other end of a FIFO or for a device.
func openOS(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, flags|syscall.O_NONBLOCK, filePermissions)
	return file, WithRemedy(err)
}

// asFile prevents a nil *os.File from becoming a non-nil File.
func asFile(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, WithRemedy(err)
	}
	return f, nil
}
