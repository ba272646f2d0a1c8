package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// Quirk is a bug in a scheduler's original simulator that affects results. By default, graft does not reproduce it.
type Quirk struct {
	Name  string // name in options
	Fixed string // behaviour after the correction
}

// ExtraSecond is the bug that each job keeps its devices for one extra second. The field Fixed describes the corrected
// behaviour.
var ExtraSecond = Quirk{"extra-second", "a job releases its devices when its work is done, not one second later"}

// Quirks holds the names of the quirks that a simulation reproduces; nil means none. A policy ignores the names of
// other policies' quirks, so one list works for several policies.
type Quirks []string

// Keeps reports whether a quirk is reproduced.
func (q Quirks) Keeps(quirk Quirk) bool { return slices.Contains(q, quirk.Name) }

// AllQuirks returns the names of all quirks of a policy. With all quirks, results match the original simulator.
func (p *Policy) AllQuirks() Quirks { return QuirksOf(p.Quirks) }

// QuirksOf returns the names of the quirks in a list.
func QuirksOf(list []Quirk) (names Quirks) {
	for _, quirk := range list {
		names = append(names, quirk.Name)
	}
	return names
}

// NamedQuirks returns the quirks with the given names. It returns an error for an unknown name.
func NamedQuirks(names []string, all []Quirk) (Quirks, error) {
	known := QuirksOf(all)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("unknown quirk %q; expected one of: %s", name, strings.Join(known, ", "))
		}
	}
	return names, nil
}
