package trainer

import (
	"time"

	"graft/model"
)

// Kind is a kind of work.
type Kind string

// The kinds.
const (
	Steps    Kind = "steps"   // of training
	Batches  Kind = "batches" // of evaluation
	Deciding Kind = "decisions"
	Surgery  Kind = "operations"
)

// Work is something that takes time.
type Work struct {
	Kind    Kind
	Count   int            // how many of its kind
	Rows    int            // examples in each; of decisions and operations none
	Network *model.Network // that it is done on
	Devices int            // that share it; zero means one
}

// Clock measures a job's budget.
type Clock interface {
	// Now is the time since the budget began.
	Now() time.Duration
	// Begin is told that work begins: the time before it was something else.
	Begin()
	// Spend is told of work when it has been done.
	Spend(w Work)
	// Cost is what work will take, as far as is known; zero is not known yet.
	Cost(w Work) time.Duration
}

// Virtual is a clock on which work takes what a profile says, however long it took.
type Virtual struct {
	Profile *Profile
	Time    time.Duration // now
}

// Now is the time since the budget began.
func (v *Virtual) Now() time.Duration { return v.Time }

// Begin does nothing.
func (v *Virtual) Begin() {}

// Spend moves the clock on.
func (v *Virtual) Spend(w Work) { v.Time += v.Cost(w) }

// Cost is what the profile says.
func (v *Virtual) Cost(w Work) time.Duration {
	return time.Duration(w.Count) * v.Profile.Cost(w)
}

// Knows is an error where the profile cannot say what work takes.
func (v *Virtual) Knows(w Work) error { return v.Profile.Knows(w) }

// knows is an error where a clock goes by what it knows beforehand, and does not
// know what some of the work takes.
func knows(c Clock, work ...Work) error {
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
