package clock

import (
	"time"

	"graft/model"
)

// Kind is a kind of work that a clock charges to a job's budget.
type Kind string

// Kinds of work.
const (
	Steps    Kind = "steps"   // training steps
	Batches  Kind = "batches" // evaluation batches
	Deciding Kind = "decisions"
	Surgery  Kind = "operations"
)

// Work is a number of identical operations to charge to a clock.
type Work struct {
	Kind    Kind
	Count   int            // number of operations
	Rows    int            // number of examples per operation; zero for decisions and surgery
	Part    int            // number of examples per gradient computation of a step; zero means Rows
	Network *model.Network // network that does the work
	Devices int            // number of devices that share the work; zero means one
}

// parts divides work on a batch into whole parts and a remainder.
func (w Work) parts() (part Work, whole int, rest Work) {
	part, rest = w, w
	part.Part, rest.Part = 0, 0
	if w.Part <= 0 || w.Part >= w.Rows {
		return part, 1, Work{}
	}
	part.Rows, rest.Rows = w.Part, w.Rows%w.Part
	return part, w.Rows / w.Part, rest
}

// Clock measures how much of a job's time budget is used.
type Clock interface {
	// Now returns the time since the budget began.
	Now() time.Duration
	// Begin starts the timer of a piece of work. Earlier time is not charged to this work.
	Begin()
	// Spend charges finished work to the budget.
	Spend(w Work)
	// Cost returns the expected time of work; zero means unknown.
	Cost(w Work) time.Duration
}

// Virtual is a clock that charges work according to a device profile, regardless of real time.
type Virtual struct {
	Profile *Profile
	Time    time.Duration // current time
	known   recentCosts
}

// Now returns the time since the budget began.
func (v *Virtual) Now() time.Duration { return v.Time }

// Begin does nothing.
func (v *Virtual) Begin() {}

// Spend advances the clock by the cost of work.
func (v *Virtual) Spend(w Work) { v.Time += v.Cost(w) }

// Cost returns the cost of work according to the profile.
func (v *Virtual) Cost(w Work) time.Duration {
	return time.Duration(w.Count) * v.known.of(v.Profile, w)
}

// Watts returns the electrical power of the profile's device; zero means unknown.
func (v *Virtual) Watts() float64 { return v.Profile.Watts }

// Knows returns an error if the profile has no time for this kind of work.
func (v *Virtual) Knows(w Work) error { return v.Profile.Knows(w) }

// Knows returns an error if the clock's device profile lacks times for part of the given work.
func Knows(c Clock, work ...Work) error {
	v, ok := c.(interface{ Knows(Work) error })
	if !ok {
		return nil
	}
	for _, w := range work {
		if err := v.Knows(w); err != nil {
			return err
		}
	}
	return nil
}
