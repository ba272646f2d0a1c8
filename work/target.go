package work

import (
	"errors"
	"io/fs"

	"graft/files"
	"graft/results/failure"
)

// MayWrite returns an error where a file cannot be written because of what is at its path: one
// of the code failure.Usage where a file is there and force is false.
func MayWrite(fsys files.FS, path string, force bool) error {
	_, err := fsys.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && force:
		return nil
	case err != nil:
		return err
	}
	return failure.Usagef("%s is there already: name another file, or replace it with option force", path)
}
