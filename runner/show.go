package main

import (
	"errors"
	"io"

	"graft/report/document"
)

// show prints a result as text or, if requested, as one JSON object, and joins the accompanying error. Without a result
// it returns only the error.
func show[T any](w io.Writer, asJSON bool, result *T, err error, print func(io.Writer, *T) error) error {
	switch {
	case result == nil:
		return err
	case asJSON:
		return errors.Join(document.PrintJSON(w, result), err)
	}
	return errors.Join(print(w, result), err)
}
