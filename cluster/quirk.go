package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// Quirk is a fault of the simulator that had a scheduler first. Results of that simulator hold
// it; by default it is corrected.
type Quirk struct {
	Name  string // by which options name it
	Fixed string // what is so where it is corrected
}

// ExtraSecond is the quirk of schedulers under which a job keeps its devices for a second too
// long.
var ExtraSecond = Quirk{"extra-second", "a job leaves its devices when its work is done, not a second later"}

// Quirks are names of the quirks that a simulation keeps; nil keeps none. Names that a policy
// does not have are ignored, so that one list serves several policies.
type Quirks []string

// Keeps reports whether a quirk is kept.
func (q Quirks) Keeps(quirk Quirk) bool { return slices.Contains(q, quirk.Name) }

// AllQuirks names all quirks of a policy: with them results equal those of the simulator that
// had it first.
func (p *Policy) AllQuirks() Quirks { return QuirksOf(p.Quirks) }

// QuirksOf names quirks.
func QuirksOf(list []Quirk) (names Quirks) {
	for _, quirk := range list {
		names = append(names, quirk.Name)
	}
	return names
}

// NamedQuirks checks names of quirks against those that there are.
func NamedQuirks(names []string, all []Quirk) (Quirks, error) {
	known := QuirksOf(all)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("quirk %q is unknown; expected %s", name, strings.Join(known, ", "))
		}
	}
	return names, nil
}
