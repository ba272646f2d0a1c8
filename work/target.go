package work

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"graft/files"
	"graft/results/failure"
)

// MayConvert returns an error where a file cannot be converted into another one.
func MayConvert(fsys files.FS, in, out string, force bool) error {
	source, err1 := fsys.Stat(in)
	target, err2 := fsys.Stat(out)
	if err1 == nil && err2 == nil && os.SameFile(source, target) {
		return failure.Usagef("%s and %s are the same file: name another one to write", in, out)
	}
	return MayWrite(fsys, out, force)
}

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

// MayCreate returns the errors of MayWrite, and one where the path is a folder or its folder is
// missing.
func MayCreate(fsys files.FS, path string, force bool) error {
	if info, err := fsys.Stat(path); err == nil && info.IsDir() {
		return failure.Usagef("%s is a folder; name a file in it", path)
	}
	if err := MayWrite(fsys, path, force); err != nil {
		return err
	}
	if _, err := fsys.Stat(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write %s: %w; make the folder first", path, err)
	}
	return nil
}
