package app

import (
	"errors"
	"io/fs"

	"graft/config"
	"graft/internal/failure"
)

// ReadFault gives an error of reading a file its exit code: that which it has, none where
// the file is missing, Configuration where its values are wrong, else Damaged.
func ReadFault(err error) error {
	var system *fs.PathError
	var faults config.Faults
	var coded *failure.ExitError
	switch {
	case errors.As(err, &coded), errors.As(err, &system), errors.Is(err, fs.ErrNotExist):
		return err
	case errors.As(err, &faults):
		return failure.With(failure.Configuration, err)
	}
	return failure.With(failure.Damaged, err)
}
