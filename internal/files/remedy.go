package files

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// remedies lists the errors of full, read-only and broken disks, with what the user can do about each.
var remedies = []struct {
	cause  error
	remedy string
}{
	{syscall.ENOSPC, "free space on this disk, or use a folder on another disk"},
	{syscall.EDQUOT, "delete files, raise the quota, or use a folder on another disk"},
	{syscall.EROFS, "use a folder on a disk that is mounted for writing"},
	{syscall.EFBIG, "raise the limit 'ulimit -f', or use a folder on another file system"},
	{syscall.EIO, "the disk or the network file system failed; repair it, or use a folder on another disk"},
	{syscall.ESTALE, "the network file system was mounted again or lost the file; run the command again"},
	{syscall.EMFILE, "raise the limit 'ulimit -n'"},
}

// remedied is an error of a disk, with its remedy.
type remedied struct {
	error
	remedy string
}

func (r remedied) Error() string { return fmt.Sprintf("%v (%s)", r.error, r.remedy) }

func (r remedied) Unwrap() error { return r.error }

// WithRemedy adds the remedy to the error of a full, read-only or broken disk. Other errors, and errors that have a
// remedy, are unchanged.
func WithRemedy(err error) error {
	var has remedied
	if err == nil || errors.As(err, &has) {
		return err
	}
	for _, known := range remedies {
		if errors.Is(err, known.cause) {
			return addRemedy(err, known.remedy)
		}
	}
	return err
}

// addRemedy adds a remedy after the system's error, and keeps the type of an error with a path.
func addRemedy(err error, remedy string) error {
	if at, ok := err.(*fs.PathError); ok {
		return &fs.PathError{Op: at.Op, Path: at.Path, Err: remedied{at.Err, remedy}}
	}
	return remedied{err, remedy}
}
