package main

import (
	"errors"
	"io"

	"graft/report/document"
)

// show prints a result for people or, if asked, as one JSON object, and joins the error that came
// with it. Without a result the error is all.
func show[T any](w io.Writer, asJSON bool, result *T, err error, print func(io.Writer, *T) error) error {
	switch {
	case result == nil:
		return err
	case asJSON:
		return errors.Join(document.PrintJSON(w, result), err)
	}
	return errors.Join(print(w, result), err)
}
