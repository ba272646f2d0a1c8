package app

import (
	"errors"
	"io/fs"

	"graft/config"
	"graft/internal/failure"
)

// ReadFault sets the exit code of an error from reading a file. An error that has a code keeps it. An error about a
// missing file gets no code, an error about invalid values gets Configuration, and any other error gets Damaged.
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
