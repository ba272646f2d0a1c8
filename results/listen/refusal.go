package listen

import (
	"fmt"
)

// Refusal is why a request was not done.
type Refusal struct {
	Status int    `json:"-"`
	Wrong  string `json:"error"`
	Remedy string `json:"remedy"`
}

// Error is what was wrong.
func (r *Refusal) Error() string { return r.Wrong }

func Refuse(status int, remedy, format string, args ...any) *Refusal {
	return &Refusal{Status: status, Wrong: fmt.Sprintf(format, args...), Remedy: remedy}
}
