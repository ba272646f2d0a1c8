package tables

import (
	"slices"
	"strings"
	"time"
)

// None is the action that keeps the network unchanged.
const None = "none"

// Sequence joins the actions of a sequence with spaces, as in CSV tables.
func Sequence(actions []string) string { return strings.Join(actions, " ") }

// Seconds converts a time from a table, in seconds, to a duration.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Choices returns the actions that can come next in a sequence that begins with prefix. These are the scenario's
// actions or, if choices depend on the network, the actions that follow prefix in the records.
func (t *Table) Choices(prefix []string) []string {
	if len(t.Actions) > 0 {
		return t.Actions
	}
	var found []string
	for k := range t.Records {
		s := t.Records[k].Sequence
		if next := s[len(prefix)]; slices.Equal(s[:len(prefix)], prefix) && !slices.Contains(found, next) {
			found = append(found, next)
		}
	}
	return found
}

// LeftAfter returns the time that was left after the actions in prefix, in seconds. The sequences that begin with
// prefix were separate runs, so their times differ. As in the original system, LeftAfter uses the sequence that takes
// the first of its choices at every later decision.
func (t *Table) LeftAfter(prefix []string) float64 {
	sequence := slices.Clone(prefix)
	for len(sequence) < t.Decisions {
		sequence = append(sequence, t.Choices(sequence)[0])
	}
	return t.Find(sequence...).Left[len(prefix)]
}

// Repeated returns the record of the sequence that takes the same action at every decision, or nil if the table does
// not contain it.
func (t *Table) Repeated(action string) *Record {
	return t.Find(slices.Repeat([]string{action}, t.Decisions)...)
}
