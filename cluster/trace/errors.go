package trace

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrMalformed is in every error about what a file holds, and in none about reading it.
var ErrMalformed = errors.New("malformed")

// Error is a place in a file where reading ended, and why. It is an [ErrMalformed].
type Error struct {
	Path   string // of the file, as it was given
	Line   int    // from 1; zero is the file as a whole
	Column int    // byte of the line at which the field begins, from 1; zero is the line as a whole
	Field  string // name of the field; empty is none
	Text   string // what is wrong there
	Remedy string // what to do about it
}

// Error is the place, what is wrong and what to do.
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

// Is says that it is an ErrMalformed.
func (e *Error) Is(target error) bool { return target == ErrMalformed }

// mendLine is the remedy of most faults in a line.
const mendLine = "mend the line or take it out"

// isButWants describes a cell that is not what is wanted.
func isButWants(cell []byte, want string) string {
	if len(cell) == 0 {
		return "is empty: want " + want
	}
	const most = 40 // bytes of a cell that an error shows
	cut := ""
	if len(cell) > most {
		cell, cut = cell[:most], "…"
	}
	return fmt.Sprintf("is %q%s: want %s", cell, cut, want)
}
