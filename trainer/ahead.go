package trainer

import (
	"errors"
	"fmt"
	"time"
)

// Reached is the progress of a saved job. Events and decisions up to this point cannot be changed.
type Reached struct {
	Time      time.Duration // time on the clock
	Past      int           // number of events in the timeline that the job has taken
	Decisions int           // number of decisions that the job has made
	Live      int           // number of changes outside of the timeline that the job has made
	Over      bool          // the job has ended
}

// Ahead compares a timeline with the job's previous timeline, the parameter was. It returns an error if the timelines
// differ before the point that the job has reached.
func (t Timeline) Ahead(was Timeline, r Reached) error {
	for k, e := range t.Events {
		same := k < len(was.Events) && e == was.Events[k]
		switch {
		case same:
		case k < r.Past:
			return fmt.Errorf("events: event %d at %v differs from the event that the job has already handled; the "+
				"job has reached time %v", k, e.At, r.Time)
		case e.At < r.Time:
			return fmt.Errorf("events: new event %d at %v is in the past; the job has reached time %v", k, e.At, r.Time)
		}
	}
	switch {
	case len(t.Events) < r.Past:
		return fmt.Errorf("events: the list has %d events, but the job has already handled %d; the job has reached "+
			"time %v", len(t.Events), r.Past, r.Time)
	case t.First() != was.First():
		return fmt.Errorf("devices must not change from %d to %d after the job starts; the job has reached time %v",
			was.First(), t.First(), r.Time)
	case t.Start != was.Start:
		return fmt.Errorf("start must not change from %v to %v after the job starts; the job has reached time %v",
			was.Start, t.Start, r.Time)
	case t.Stop > 0 && t.Stop <= r.Time:
		return fmt.Errorf("stop must be after time %v, which the job has reached; got %v", r.Time, t.Stop)
	case t.Budget != was.Budget && t.Budget <= r.Time:
		return fmt.Errorf("budget must not change from %v to %v; the job has reached time %v", was.Budget, t.Budget,
			r.Time)
	}
	return nil
}

// accept reports whether a resumed job has options other than its original ones. Differences must lie ahead and must be
// declared by Parts.Was; otherwise it returns an error.
func (p Parts) accept(began string, now Options, r Reached) (changed bool, err error) {
	if began == Digest(now) {
		return false, nil
	}
	other := errors.New("the options differ from the job's original options; use the original options, or start " +
		"another run")
	if p.Was == nil {
		return true, other
	}
	was, rest := *p.Was, now
	was.EnsureDefaults()
	rest.Timeline = was.Timeline // Ahead compares them
	if began != Digest(was) || Digest(rest) != Digest(was) {
		return true, other
	}
	if r.Over {
		return true, fmt.Errorf("the job ended at %v, so changed options have no effect; start another run", r.Time)
	}
	return true, now.Timeline.Ahead(was.Timeline, r)
}
