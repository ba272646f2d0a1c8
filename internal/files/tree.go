package files

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// IOFS adapts an FS to the interface of package io/fs, for fs.WalkDir and fs.Glob. Paths keep the operating system's
// syntax.
func IOFS(fsys FS) fs.FS { return ioFS{fsys} }

type ioFS struct{ FS }

// Open opens an existing regular file for reading.
func (f ioFS) Open(path string) (fs.File, error) { return f.FS.Open(path) }

// RemoveAll deletes a file, or a folder with its content. A path that does not exist is not an error. A symbolic link
// is deleted, not followed. After an error it continues, and it returns all errors.
func RemoveAll(fsys FS, path string) error {
	first := fsys.Remove(path)
	if first == nil || errors.Is(first, fs.ErrNotExist) {
		return nil
	}
	siblings, err := fsys.ReadDir(filepath.Dir(path))
	if err != nil {
		return errors.Join(first, err)
	}
	for _, entry := range siblings { // types of links themselves, not of their targets
		if entry.Name() == filepath.Base(path) && entry.IsDir() {
			return removeFolder(fsys, path)
		}
	}
	return first
}

func removeFolder(fsys FS, path string) error {
	entries, err := fsys.ReadDir(path)
	faults := []error{err}
	for _, entry := range entries {
		below := filepath.Join(path, entry.Name())
		if entry.IsDir() {
			faults = append(faults, removeFolder(fsys, below))
		} else {
			faults = append(faults, absent(fsys.Remove(below)))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	return absent(fsys.Remove(path))
}

// absent ignores the error of a file that another process has just deleted.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
