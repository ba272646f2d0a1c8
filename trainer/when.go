package trainer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"graft/internal/registry"
	"graft/internal/validate"
)

// When names the rule for the times of decisions.
type When string

// Rules for the times of decisions. The zero When means WhenDevices.
const (
	WhenDevices  When = "devices"  // after each up event
	WhenPeriodic When = "periodic" // at equal intervals
	WhenShare    When = "share"    // at given shares of the budget
	WhenPlateau  When = "plateau"  // when the accuracy no longer improves
)

// WhenKind describes a value of adapt.when.
type WhenKind struct {
	Name  When
	About string // help text in one line
	Keys  string // example of the other keys that it requires; empty means none
	// Trained reports whether the times depend on the result of training, so that they are unknown before it.
	Trained bool
}

// Listing returns the name and the one-line description.
func (k WhenKind) Listing() (name, about string) { return string(k.Name), k.About }

// WhenKinds lists the values of adapt.when.
func WhenKinds() registry.List[WhenKind] {
	return registry.List[WhenKind]{
		{WhenDevices, "asks the decider after each up event of the timeline", "", false},
		{WhenPeriodic, "asks it at equal intervals of the budget", "interval = 0.25", false},
		{WhenShare, "asks it at given shares of the budget", "at = [0.8]", false},
		{WhenPlateau, "asks it when the validation accuracy no longer improves", "window = 3", true},
	}
}

// Kind returns the description of the rule for the times of decisions.
func (a Adapt) Kind() WhenKind {
	k, _ := WhenKinds().Find(string(cmp.Or(a.When, WhenDevices)))
	return k
}

// Limits of the options of rules. A value beyond them is a typing error.
const (
	leastInterval = 0.001
	mostShares    = 1000
	mostWindow    = 1_000_000
)

// Default values of the plateau rule, as in the growth study (docs/study.md), whose jobs have up to 24 epochs. AutoGrow
// has 0.05 points and 30 epochs.
const (
	plateauGain   = 1.0 // points of accuracy
	plateauWindow = 1   // epochs
)

// ensureWhen fills unset options of the rule for the times of decisions.
func (a *Adapt) ensureWhen() {
	switch a.When {
	case WhenDevices:
		a.When = "" // both have equal results, so they have equal digests
	case WhenPeriodic:
		if a.Interval >= leastInterval && a.MaxDecisions == 0 {
			a.MaxDecisions = len(multiples(a.Interval, time.Hour))
		}
	case WhenShare:
		a.MaxDecisions = cmp.Or(a.MaxDecisions, len(a.At))
	case WhenPlateau:
		a.MaxDecisions = cmp.Or(a.MaxDecisions, 3)
		a.MinGain, a.Window = cmp.Or(a.MinGain, plateauGain), cmp.Or(a.Window, plateauWindow)
	}
}

// validateWhen returns an error that lists every invalid option of the rule for the times of decisions.
func (a Adapt) validateWhen() error {
	when := cmp.Or(a.When, WhenDevices)
	if _, err := WhenKinds().Named("value of adapt.when", string(when)); err != nil {
		return fmt.Errorf("when: %w", err)
	}
	var faults validate.Faults
	for _, key := range []struct {
		name string
		set  bool
		of   When
	}{{"each_epoch", a.Every, WhenDevices}, {"interval", a.Interval != 0, WhenPeriodic},
		{"at", len(a.At) > 0, WhenShare}, {"min_gain", a.MinGain != 0, WhenPlateau},
		{"window", a.Window != 0, WhenPlateau}} {
		faults.When(key.set && when != key.of,
			"%s applies only to adapt.when = %q, but adapt.when is %q; remove %[1]s, or set adapt.when to %[2]q",
			"adapt."+key.name, string(key.of), string(when))
	}
	faults.When(when == WhenPeriodic && !(a.Interval >= leastInterval && a.Interval < 1),
		"adapt.interval is %v; adapt.when = \"periodic\" requires a share of the budget, at least %v and less than 1",
		a.Interval, leastInterval)
	faults.When(a.MinGain < 0 || a.MinGain > 100 || math.IsNaN(a.MinGain),
		"min_gain is %v; must be between 0 and 100 points", a.MinGain)
	faults.When(a.Window < 0 || a.Window > mostWindow, "window is %d; must be between 0 and %d epochs", a.Window,
		mostWindow)
	if when == WhenShare {
		faults = append(faults, a.validateShares())
	}
	return errors.Join(faults...)
}

// validateShares checks the list of shares.
func (a Adapt) validateShares() error {
	var faults validate.Faults
	faults.When(len(a.At) == 0,
		"at: adapt.when = \"share\" requires at least one share of the budget, such as at = [0.8]")
	faults.When(len(a.At) > mostShares, "at: got %d shares, expected at most %d", len(a.At), mostShares)
	for k, share := range a.At {
		faults.Unless(share >= 0 && share < 1, "at: share %d is %v; must be at least 0 and less than 1", k, share)
		faults.When(k > 0 && share <= a.At[k-1], "at: share %d is %v, but share %d is %v; list shares in ascending "+
			"order, each once", k, share, k-1, a.At[max(0, k-1)])
	}
	faults.When(a.MaxDecisions > 0 && len(a.At) > 0 && a.MaxDecisions != len(a.At),
		"max_decisions is %d, but adapt.at lists %d shares, each with one decision; remove max_decisions",
		a.MaxDecisions, len(a.At))
	return errors.Join(faults...)
}

// Moments returns the times of decisions that are known before the job starts, in order and as used parts of the
// budget: the times of the rules "periodic" and "share" that are not before the start. A decision follows the first
// step that reaches its time.
func (o Options) Moments() []time.Duration {
	o.Adapt.ensureWhen()
	t := o.Timeline
	var all []time.Duration
	switch o.Adapt.When {
	case WhenPeriodic:
		all = multiples(o.Adapt.Interval, t.Budget)
	case WhenShare:
		for _, share := range o.Adapt.At {
			all = append(all, shareOf(t.Budget, share))
		}
	}
	all = slices.DeleteFunc(all, func(at time.Duration) bool { return at < t.Start })
	return all[:min(len(all), max(0, o.Adapt.MaxDecisions))]
}

// multiples returns the multiples of a share of the budget that are within the budget.
func multiples(share float64, budget time.Duration) (all []time.Duration) {
	for k := 1; share >= leastInterval; k++ {
		at := shareOf(budget, float64(k)*share)
		if at >= budget {
			break
		}
		all = append(all, at)
	}
	return all
}

// shareOf returns a share of the budget, rounded to a nanosecond.
func shareOf(budget time.Duration, share float64) time.Duration {
	return time.Duration(math.Round(share * float64(budget)))
}
