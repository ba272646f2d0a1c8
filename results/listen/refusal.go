package listen

import (
	"fmt"
)

// Refusal is the error response to a request.
type Refusal struct {
	Status int    `json:"-"`      // HTTP status
	Wrong  string `json:"error"`  // what was wrong
	Remedy string `json:"remedy"` // what to do
}

// Error is the text of Wrong.
func (r *Refusal) Error() string { return r.Wrong }

// Refuse makes a refusal with a formatted error text.
func Refuse(status int, remedy, format string, args ...any) *Refusal {
	return &Refusal{Status: status, Wrong: fmt.Sprintf(format, args...), Remedy: remedy}
}
