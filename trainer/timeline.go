package trainer

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"graft/internal/stat"
	"graft/internal/validate"
	"graft/trainer/clock"
)

// Change states whether a job gains or loses devices.
type Change string

// Directions of a change. The zero Change means no change.
const (
	Same Change = ""
	Up   Change = "up"
	Down Change = "down"
)

// Event is a change of devices that is planned for a given time since the start of the budget.
type Event struct {
	At      time.Duration `config:",needed"` // Time of the event, measured from the start of the budget. Required.
	Change  Change        // Direction of the change: "up" grants devices, "down" removes devices.
	Devices int           // Number of devices after the event. Zero keeps the number of devices.
}

// Timeline holds the budget of a job and the planned changes of its devices.
type Timeline struct {
	Budget time.Duration // Time budget of the job, including the part before time.start. Required.
	// Part of the budget that is already used when the job begins. Zero means none.
	Start time.Duration
	// Time at which training ends before the budget: the last step ends by this time, and an evaluation follows. No
	// event and no decision follows it. The learning rate schedule and decisions still follow the budget, so the job
	// is the first part of the job without this key. Zero means the end of the budget.
	Stop time.Duration `json:",omitempty"`
	// Validation loss, in nats, at which the job ends: after the first epoch with at most this loss. Zero means that
	// no loss ends the job.
	StopLoss float64 `json:",omitempty"`
	Devices  int     `json:",omitempty"` // Number of devices at the start. Zero means 1.
	Events   []Event // Planned changes of the number of devices, sorted by time. Empty means none.
}

// Reached reports whether a validation loss ends the job.
func (t Timeline) Reached(loss float64) bool { return t.StopLoss > 0 && loss <= t.StopLoss }

// Stopped reports whether training has ended at a time, because of Stop.
func (t Timeline) Stopped(at time.Duration) bool { return t.Stop > 0 && at >= t.Stop }

// cuts reports whether the job stops before an event.
func (t Timeline) cuts(e Event) bool { return t.Stopped(e.At) }

// Missed lists the events that the job of a forecast does not reach. Spans are the spans of the forecast. Events from
// the stop of the timeline on do not count.
func (t Timeline) Missed(spans []Span) (events []Event) {
	for k, e := range t.Events {
		if spans[k+1].Missed && !t.cuts(e) {
			events = append(events, e)
		}
	}
	return events
}

// First returns the number of devices at the start.
func (t Timeline) First() int { return max(1, t.Devices) }

// DevicesAt returns the number of devices after the events up to a time.
func (t Timeline) DevicesAt(at time.Duration) int {
	devices := t.First()
	for _, e := range t.Events {
		if e.At <= at && e.Devices > 0 {
			devices = e.Devices
		}
	}
	return devices
}

// MostDevices limits the devices of a job. With more, a step would take no time on a virtual clock.
const MostDevices = 1 << 16

// Validate returns an error that lists every invalid value.
func (t Timeline) Validate() error {
	var faults validate.Faults
	faults.When(t.Budget <= 0, "budget is %v; must be more than 0", t.Budget)
	faults.When(t.Start < 0 || t.Start > t.Budget && t.Budget > 0,
		"start is %v; must be within the budget of %v", t.Start, t.Budget)
	faults.When(t.Stop != 0 && (t.Stop <= t.Start || t.Stop > t.Budget && t.Budget > 0),
		"stop is %v; must be after the start at %v and within the budget of %v", t.Stop, t.Start, t.Budget)
	faults.Unless(t.StopLoss >= 0 && stat.Finite(t.StopLoss), "stop_loss is %v; must be a finite number of at least 0",
		t.StopLoss)
	faults.When(t.Devices < 0 || t.Devices > MostDevices, "devices is %d; must be between 0 and %d (default: 1)",
		t.Devices, MostDevices)
	for k, e := range t.Events {
		switch {
		case e.Change != Up && e.Change != Down:
			faults = append(faults, fmt.Errorf("event %d has change %q; expected up or down", k, string(e.Change)))
		case e.At < 0 || e.At > t.Budget:
			faults = append(faults, fmt.Errorf("event %d at %v is outside the budget of %v", k, e.At, t.Budget))
		case k > 0 && e.At < t.Events[k-1].At:
			faults = append(faults, fmt.Errorf("event %d at %v is before event %d at %v; sort events by time", k, e.At,
				k-1, t.Events[k-1].At))
		case k > 0 && e == t.Events[k-1] && e.Devices > 0:
			faults = append(faults, fmt.Errorf("event %d is a duplicate of event %d; remove one of them", k, k-1))
		case e.Devices < 0 || e.Devices > MostDevices:
			faults = append(faults, fmt.Errorf("event %d has %d devices; must be between 0 and %d", k, e.Devices,
				MostDevices))
		}
	}
	return errors.Join(faults...)
}

// Allocation holds the devices that a scheduler gives a job.
type Allocation struct {
	Change  Change // direction of the change since the last call
	Devices int    // number of devices, at least one
	// Settled is called after the change has been made and saved. If it is set, the job saves immediately, because a
	// request waits for the change. Nil means that no request waits.
	Settled func()
}

// LiveChange is a change that was requested while the job ran.
type LiveChange struct {
	At     time.Duration `json:"at_ns"`  // used part of the budget when the job made the change
	Change Change        `json:"change"` // direction of the change: up or down
	// number of devices after the change; zero means that the number does not change
	Devices int `json:"devices"`
	// number of the request, if it differs from the position in the list of changes, because requests were refused
	ID int `json:"id,omitempty"`
}

// Number returns the number of the request, given the index of the change in the list of changes.
func (c LiveChange) Number(index int) int { return cmp.Or(c.ID, index+1) }

// SchedulerState is the state from which a scheduler resumes.
type SchedulerState struct {
	Past    int          // number of events in the timeline that were taken so far
	Devices int          // current number of devices
	Live    []LiveChange // changes outside of the timeline, in order
}

// Scheduler determines a job's devices and its remaining time.
type Scheduler interface {
	// Budget returns the job's time budget.
	Budget() time.Duration
	// Left returns the remaining time of the budget.
	Left() time.Duration
	// Allocation returns the earliest change that it has not returned yet, one change per call.
	Allocation() Allocation
	// Next returns the next known event. An event without a change marks the end of the budget.
	Next() Event
	// Standing returns the state from which Resume continues.
	Standing() SchedulerState
	// Resume continues from a state. The job calls Resume before the first call of Allocation.
	Resume(s SchedulerState)
	// End tells the scheduler that the job has ended, or has failed with the given error. Only the first call has an
	// effect.
	End(err error)
}

// Planned is a scheduler that follows a timeline.
type Planned struct {
	timeline Timeline
	clock    clock.Clock
	standing SchedulerState
}

// NewPlanned creates a scheduler that follows a timeline according to the given clock.
func NewPlanned(t Timeline, c clock.Clock) *Planned {
	return &Planned{timeline: t, clock: c, standing: SchedulerState{Devices: t.First()}}
}

// Budget returns the budget of the timeline.
func (p *Planned) Budget() time.Duration { return p.timeline.Budget }

// Left returns the remaining budget.
func (p *Planned) Left() time.Duration { return max(0, p.timeline.Budget-p.clock.Now()) }

// Allocation returns the timeline's next event if it is due.
func (p *Planned) Allocation() Allocation { return p.look(p.clock.Now()) }

func (p *Planned) look(now time.Duration) Allocation {
	if next := p.Next(); next.Change != Same && next.At <= now {
		p.standing.Past++
		return p.take(next)
	}
	return Allocation{Devices: p.standing.Devices}
}

func (p *Planned) take(e Event) Allocation {
	if e.Devices > 0 {
		p.standing.Devices = e.Devices
	}
	return Allocation{Change: e.Change, Devices: p.standing.Devices}
}

// Next returns the timeline's next event.
func (p *Planned) Next() Event {
	if p.standing.Past < len(p.timeline.Events) {
		return p.timeline.Events[p.standing.Past]
	}
	return Event{At: p.timeline.Budget}
}

// Standing returns the state from which Resume continues.
func (p *Planned) Standing() SchedulerState { return p.standing }

// Resume continues from a state.
func (p *Planned) Resume(s SchedulerState) { p.standing = s }

// End does nothing.
func (p *Planned) End(error) {}
