package trace

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrMalformed is wrapped by every error about the content of a file. I/O errors do not wrap ErrMalformed.
var ErrMalformed = errors.New("malformed")

// Error describes an error in a file, with its location. It wraps [ErrMalformed].
type Error struct {
	Path   string // path of the file, as given
	Line   int    // line of the fault, from 1; zero means the whole file
	Column int    // byte of the line at which the field begins, from 1; zero means the whole line
	Field  string // name of the field; may be empty
	Text   string // description of the fault
	Remedy string // suggested remedy
}

// Error returns the location, the problem and the remedy.
func (e *Error) Error() string {
	at := e.Path
	for _, n := range []int{e.Line, e.Column} {
		if n > 0 {
			at += ":" + strconv.Itoa(n)
		}
	}
	field := ""
	if e.Field != "" {
		field = e.Field + " "
	}
	return fmt.Sprintf("%s: %s%s; %s", at, field, e.Text, e.Remedy)
}

// Is reports whether the argument target is ErrMalformed.
func (e *Error) Is(target error) bool { return target == ErrMalformed }

// mendLine is the remedy of most faults in a line.
const mendLine = "correct or remove the line"

// isButWants describes a cell with an unexpected value.
func isButWants(cell []byte, want string) string {
	if len(cell) == 0 {
		return "is empty: expected " + want
	}
	const most = 40 // maximum bytes of a cell in an error
	cut := ""
	if len(cell) > most {
		cell, cut = cell[:most], "…"
	}
	return fmt.Sprintf("is %q%s: expected %s", cell, cut, want)
}
