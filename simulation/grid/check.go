package grid

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"graft/internal/validate"
	"graft/simulation/tables"
)

// Impossible reports an outcome that has a correct checksum but contains values that no run can produce.
const Impossible tables.FaultKind = "impossible"

// Expected describes the outcome that a segment should have: the segment itself, and the limits that the scenario sets
// for the values. An outcome that does not match is impossible.
type Expected struct {
	Segment
	Decisions int     // number of decisions per sequence
	Budget    float64 // budget in seconds; zero skips the check of times
}

// check finds values that the segment cannot have produced. Fields that change no record (steps, loss and machine time)
// need only be finite and not negative.
func (o *Outcome) check(want Expected) error {
	err := errors.Join(o.checkShape(want), o.checkNumbers(want.Budget), o.checkTexts())
	if err == nil {
		return nil
	}
	f := tables.NewFault(Impossible, "%v", err)
	f.Remedy = "the leg runs again; find out which program writes to the cache"
	return f
}

// checkShape compares the outcome with the segment, and its lists with each other.
func (o *Outcome) checkShape(want Expected) error {
	if !slices.Equal(o.Sequence, want.Sequence) || o.Seed != want.Seed {
		return fmt.Errorf("the outcome belongs to leg %s (the training between two decisions); expected leg %s",
			o.Segment(), want.Segment)
	}
	ended := len(o.Sequence) == want.Decisions
	noted := want.Decisions
	if !ended {
		noted = len(o.Sequence) + 1
	}
	networks := noted
	if ended {
		networks++
	}
	switch {
	case o.Ended != ended:
		return fmt.Errorf("\"ended\" is %t after %d of %d decisions; expected %t", o.Ended, len(o.Sequence),
			want.Decisions, ended)
	case len(o.Left) != noted || len(o.Step) != noted || len(o.Before) != noted:
		return fmt.Errorf("got %d remaining times, %d step times and %d accuracies; expected %d of each", len(o.Left),
			len(o.Step), len(o.Before), noted)
	case len(o.Loss) > noted || len(o.Fall) > noted || len(o.Gap) > noted || len(o.After) > noted:
		return fmt.Errorf("got %d values of \"loss\", %d of \"fall\", %d of \"gap\" and %d of \"after\"; expected at "+
			"most %d of each", len(o.Loss), len(o.Fall), len(o.Gap), len(o.After), noted)
	case len(o.Networks) != networks:
		return fmt.Errorf("the outcome has %d networks; expected %d", len(o.Networks), networks)
	}
	return nil
}

// checkNumbers finds numbers out of their range. JSON has no NaN and no infinity.
func (o *Outcome) checkNumbers(budget float64) error {
	if budget == 0 {
		budget = math.Inf(1)
	}
	var faults validate.Faults
	in := func(name string, most float64, values ...float64) {
		for _, v := range values {
			if !(v >= 0 && v <= most) || math.IsInf(v, 0) {
				faults = append(faults, fmt.Errorf("%s is %v, expected 0 to %v", name, v, most))
			}
		}
	}
	in("accuracy", 1, o.Accuracy)
	in("test", 1, o.Test)
	in("before", 1, o.Before...)
	in("after", 1, o.After...)
	in("loss", math.MaxFloat64, o.Loss...)
	in("last_step_s", math.MaxFloat64, o.LastStep)
	in("left_s", budget, o.Left...)
	in("step_s", math.MaxFloat64, o.Step...)
	in("machine seconds", math.MaxFloat64, o.Seconds)
	in("steps", math.MaxFloat64, float64(o.Steps))
	for _, e := range o.Epochs {
		in("accuracy of an epoch", 1, e.Accuracy)
		in("time of an epoch", math.MaxFloat64, e.Time)
	}
	faults.Unless(slices.IsSortedFunc(o.Left, func(a, b float64) int { return cmp.Compare(b, a) }),
		"left_s is %v; expected values that do not increase", o.Left)
	return errors.Join(faults...)
}

// checkTexts finds texts that no table can hold.
func (o *Outcome) checkTexts() error {
	for _, text := range append([]string{o.Weights, o.Graft, o.LibTorch, o.Profile}, o.Networks...) {
		if !tables.Printable(text) {
			return fmt.Errorf("text %q contains unprintable characters", text)
		}
	}
	return nil
}
