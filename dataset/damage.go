package dataset

import (
	"errors"
	"io/fs"
)

// Damage is the error for a file that is truncated, altered or not what its name says. It
// has the text of the error inside.
type Damage struct{ error }

// Damaged tells callers that know no datasets.
func (Damage) Damaged() bool { return true }

// Unwrap returns the error inside.
func (d Damage) Unwrap() error { return d.error }

// damaged classifies an error of a file's content. An error of the file system stays as
// it is.
func damaged(err error) error {
	if err == nil || errors.As(err, new(*fs.PathError)) {
		return err
	}
	return Damage{err}
}
