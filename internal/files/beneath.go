package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// ErrOutside means that a path is outside the root folder of [Beneath].
var ErrOutside = errors.New("the path is outside the allowed folder")

// Beneath returns a read-only [FS] of the folder root and its subfolders. Paths use the operating system's syntax and
// start with root; they are absolute if root is absolute. A symbolic link that is absolute or leads outside root is an
// error; root itself can be a link. Each operation opens root, and returns an error if root does not exist.
func Beneath(root string) FS { return ReadOnly{FS: beneath{root: filepath.Clean(root)}} }

// beneath opens its root for each operation. Methods that it does not define are never called, because ReadOnly refuses
// them.
type beneath struct {
	OS
	root string
}

// Open opens an existing regular file for reading.
func (b beneath) Open(path string) (file File, err error) {
	err = b.within("open", path, func(root *os.Root, name string) error {
		file, err = openRegular(path, func(string) (fs.FileInfo, error) { return root.Stat(name) },
			func() (*os.File, error) { return root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) })
		return err
	})
	return file, err
}

// ReadDir lists a folder, sorted by name.
func (b beneath) ReadDir(path string) (entries []fs.DirEntry, err error) {
	err = b.within("list", path, func(root *os.Root, name string) error {
		// Do not use root.FS, which refuses names that are not UTF-8.
		folder, err := root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		entries, err = folder.ReadDir(-1)
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		return errors.Join(err, folder.Close())
	})
	return entries, err
}

// Stat returns information about a path.
func (b beneath) Stat(path string) (info fs.FileInfo, err error) {
	err = b.within("stat", path, func(root *os.Root, name string) error {
		info, err = root.Stat(name)
		return err
	})
	return info, err
}

// within calls do with the open root and the path's name in it.
func (b beneath) within(op, path string, do func(root *os.Root, name string) error) error {
	name, err := filepath.Rel(b.root, path)
	if err != nil || !filepath.IsLocal(name) {
		return &fs.PathError{Op: op, Path: path, Err: fmt.Errorf("%w, %s", ErrOutside, b.root)}
	}
	root, err := os.OpenRoot(b.root)
	if err != nil {
		return err
	}
	defer root.Close() // only read
	err = do(root, name)
	var at *fs.PathError
	if errors.As(err, &at) {
		at.Path = path // not the name relative to the root
	}
	return err
}
