package trainer

import (
	"errors"
	"fmt"
	"time"
)

// Change is what happens to a job's devices.
type Change string

// The changes. The zero Change is none.
const (
	Same Change = ""
	Up   Change = "up"
	Down Change = "down"
)

// Event is a change at a time of the budget.
type Event struct {
	At      time.Duration // when it happens, since the budget began
	Change  Change        // what happens: up or down
	Devices int           // how many there are from then on; zero leaves their number alone
}

// Timeline is when a job's devices come and go.
type Timeline struct {
	Budget time.Duration // how long the job lasts, counted from zero also where it starts later; required
	Start  time.Duration // when in the budget the job begins; zero is its beginning
	Events []Event       // when devices come and go, in order; empty means never
}

// Validate lists all that is wrong with a timeline.
func (t Timeline) Validate() error {
	var faults []error
	if t.Budget <= 0 {
		faults = append(faults, fmt.Errorf("a budget of %v; it is longer than nothing", t.Budget))
	}
	if t.Start < 0 || t.Start > t.Budget && t.Budget > 0 {
		faults = append(faults, fmt.Errorf("a start at %v lies outside of the budget of %v", t.Start, t.Budget))
	}
	for k, e := range t.Events {
		switch {
		case e.Change != Up && e.Change != Down:
			faults = append(faults, fmt.Errorf("event %d is a change %q; there are up and down", k, string(e.Change)))
		case e.At < 0 || e.At > t.Budget:
			faults = append(faults, fmt.Errorf("event %d at %v lies outside of the budget of %v", k, e.At, t.Budget))
		case k > 0 && e.At < t.Events[k-1].At:
			faults = append(faults, fmt.Errorf("event %d at %v comes before event %d at %v; put them in order", k, e.At, k-1, t.Events[k-1].At))
		case e.Devices < 0:
			faults = append(faults, fmt.Errorf("event %d leaves %d devices", k, e.Devices))
		}
	}
	return errors.Join(faults...)
}

// Allocation is what a scheduler gives a job.
type Allocation struct {
	Change  Change // since it was last asked
	Devices int    // at least one
}

// Scheduler owns a job's devices and its time.
type Scheduler interface {
	// Budget is the time in all.
	Budget() time.Duration
	// Left is what is left of it.
	Left() time.Duration
	// Allocation says what has changed since it was last asked, one change at a time.
	Allocation() Allocation
	// Next is when the allocation changes next, as far as is known; the budget where
	// it is not.
	Next() time.Duration
}

// Planned is a scheduler whose timeline is known beforehand.
type Planned struct {
	timeline Timeline
	clock    Clock
	next     int // event
	devices  int
}

// NewPlanned follows a timeline, of which some events are past already, on a clock.
func NewPlanned(t Timeline, c Clock, past int) *Planned {
	p := &Planned{timeline: t, clock: c, devices: 1}
	for p.next < min(past, len(t.Events)) {
		p.take()
	}
	return p
}

func (p *Planned) take() Change {
	e := p.timeline.Events[p.next]
	p.next++
	if e.Devices > 0 {
		p.devices = e.Devices
	}
	return e.Change
}

// Budget is the timeline's.
func (p *Planned) Budget() time.Duration { return p.timeline.Budget }

// Left is what is left of the budget.
func (p *Planned) Left() time.Duration { return max(0, p.timeline.Budget-p.clock.Now()) }

// Allocation takes the next event if its time has come.
func (p *Planned) Allocation() Allocation {
	a := Allocation{Devices: p.devices}
	if p.next < len(p.timeline.Events) && p.timeline.Events[p.next].At <= p.clock.Now() {
		a.Change = p.take()
		a.Devices = p.devices
	}
	return a
}

// Next is the time of the next event.
func (p *Planned) Next() time.Duration {
	if p.next < len(p.timeline.Events) {
		return p.timeline.Events[p.next].At
	}
	return p.timeline.Budget
}

// Past is how many events have been taken.
func (p *Planned) Past() int { return p.next }
