package app

import (
	"errors"
	"io/fs"

	"graft/config"
	"graft/internal/failure"
)

// ReadFault sets the exit code of an error from reading a file. The code is the error's own code if it has one, no code
// if the file is missing, Configuration if its values are invalid, and Damaged otherwise.
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
