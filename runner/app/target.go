package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"graft/internal/failure"
	"graft/internal/files"
)

// MayConvert returns an error if the input and the output of a conversion are the same file, or if MayWrite fails.
func MayConvert(fsys files.FS, in, out string, force bool) error {
	source, err1 := fsys.Stat(in)
	target, err2 := fsys.Stat(out)
	if err1 == nil && err2 == nil && os.SameFile(source, target) {
		return failure.Usagef("%s and %s are the same file: choose another output file", in, out)
	}
	return MayWrite(fsys, out, force)
}

// MayReplace returns an error with the code failure.Usage if the path exists and force is false.
func MayReplace(fsys files.FS, path string, force bool) error {
	_, err := fsys.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && force:
		return nil
	case err != nil:
		return err
	}
	return failure.Usagef("%s already exists: choose another file, or replace it with option \"force\"", path)
}

// MayWrite returns the errors of MayReplace, and an error if no file can be written into the folder of the path. It
// writes a small file into the folder and deletes it, so that no long work ends with a result that has no place.
func MayWrite(fsys files.FS, path string, force bool) error {
	if err := MayReplace(fsys, path, force); err != nil {
		return err
	}
	if err := files.NeedFolder(fsys, path, nil); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return files.TryWrite(fsys, path)
}

// MayWriteFile returns the errors of MayWrite, and an error if the path is a folder.
func MayWriteFile(fsys files.FS, path string, force bool) error {
	if info, err := fsys.Stat(path); err == nil && info.IsDir() {
		return failure.Usagef("%s is a folder; expected a file", path)
	}
	return MayWrite(fsys, path, force)
}
