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
	// Settled is called once the change has been done and saved, which is then done at
	// once: somebody waits for it. Nil where nobody does.
	Settled func()
}

// Taken is a change that was asked for while the job ran.
type Taken struct {
	At      time.Duration `json:"at_ns"`   // of the budget, when the job took it
	Change  Change        `json:"change"`  // up or down
	Devices int           `json:"devices"` // as in an Event
}

// Standing is how far a scheduler has come: all that it must know to go on.
type Standing struct {
	Past    int     // events of its timeline that were taken
	Devices int     // now
	Live    []Taken // what was taken beside the timeline, in order
}

// Scheduler owns a job's devices and its time.
type Scheduler interface {
	// Budget is the time in all.
	Budget() time.Duration
	// Left is what is left of it.
	Left() time.Duration
	// Allocation says what has changed since it was last asked, one change at a time.
	Allocation() Allocation
	// Next is what changes next, as far as is known; where it is not, an Event without
	// a change at the end of the budget.
	Next() Event
	// Standing is how far it has come.
	Standing() Standing
	// Resume goes on from there. It comes before the first Allocation.
	Resume(s Standing)
	// End is told that nothing will be asked any more: the job has ended, or failed
	// with an error. Only the first call counts.
	End(err error)
}

// Planned is a scheduler whose timeline is known beforehand.
type Planned struct {
	timeline Timeline
	clock    Clock
	standing Standing
}

// NewPlanned follows a timeline on a clock.
func NewPlanned(t Timeline, c Clock) *Planned {
	return &Planned{timeline: t, clock: c, standing: Standing{Devices: 1}}
}

// Budget is the timeline's.
func (p *Planned) Budget() time.Duration { return p.timeline.Budget }

// Left is what is left of the budget.
func (p *Planned) Left() time.Duration { return max(0, p.timeline.Budget-p.clock.Now()) }

// Allocation takes the next event if its time has come.
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

// Next is the timeline's next event.
func (p *Planned) Next() Event {
	if p.standing.Past < len(p.timeline.Events) {
		return p.timeline.Events[p.standing.Past]
	}
	return Event{At: p.timeline.Budget}
}

// Standing is how far the timeline has been followed.
func (p *Planned) Standing() Standing { return p.standing }

// Resume goes on from there.
func (p *Planned) Resume(s Standing) { p.standing = s }

// End does nothing.
func (p *Planned) End(error) {}
