package dataset

import (
	"errors"
	"io/fs"
)

// ErrDamaged is wrapped by errors of files that are cut short, altered or not what their
// names say.
var ErrDamaged = errors.New("the file is damaged")

// damage is an error that wraps ErrDamaged and keeps its own text.
type damage struct{ error }

// Unwrap returns the error and its class.
func (d damage) Unwrap() []error { return []error{d.error, ErrDamaged} }

// damaged classifies an error of a file's content. An error of the file system stays as
// it is.
func damaged(err error) error {
	if err == nil || errors.As(err, new(*fs.PathError)) {
		return err
	}
	return damage{err}
}
