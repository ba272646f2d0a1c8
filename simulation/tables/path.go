package tables

import (
	"slices"
	"strings"
	"time"
)

// none is the action that leaves the network alone.
const None = "none"

// Sequence is how a sequence is written in tables: its actions with a blank between.
func Sequence(actions []string) string { return strings.Join(actions, " ") }

// seconds are a time of a table as a duration.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// choices are the actions that follow a prefix: the table's, or those of its
// records where they depend on the network.
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

// left is the time left after a prefix. Each sequence was a run of its own, so those
// that begin with the prefix differ in it; as in the original it is that of the one
// which goes on with the first action each time.
func (t *Table) LeftAfter(prefix []string) float64 {
	sequence := slices.Clone(prefix)
	for len(sequence) < t.Decisions {
		sequence = append(sequence, t.Choices(sequence)[0])
	}
	return t.Find(sequence...).Left[len(prefix)]
}

// always is the record of one action, taken each time.
func (t *Table) Repeated(action string) *Record {
	return t.Find(slices.Repeat([]string{action}, t.Decisions)...)
}
