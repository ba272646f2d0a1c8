package node

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Decision starts a queued task on a device, or stops a running one. The zero value does neither.
type Decision struct {
	Start, Stop *Task   // at most one is set
	On          *Device // device for Start
}

// Scheduler decides which tasks run where. One goroutine uses it at a time.
type Scheduler interface {
	// Decide returns the next decision at a moment. It is called after tasks have arrived, ended or used up their
	// slices, and again after each decision, until it returns a zero decision.
	Decide(m *Machine) Decision
}

// Slicer is a scheduler that shares devices in time.
type Slicer interface {
	// Slice returns the time after which a task that just started returns to the queue. Zero lets it run to completion.
	Slice(t *Task) time.Duration
}

// Kind is a registered scheduler.
type Kind struct {
	Name  string // name in files and flags
	About string // one line of help
	// Slices says that it stops tasks, so that their programs must support stopping.
	Slices bool
	Draws  bool // its decisions depend on SchedulerOptions.Random
	New    func(o SchedulerOptions) Scheduler
}

// Listing returns the name and the line of help.
func (k Kind) Listing() (name, about string) { return k.Name, k.About }

// SchedulerOptions holds the options of all kinds of schedulers. Each kind reads only its own.
type SchedulerOptions struct {
	Quantum time.Duration // slice of time-sharing schedulers; zero means 10 s
	Aging   time.Duration // waiting time that adds one step of priority; zero means 60 s
	Random  *rand.Rand    // random numbers of lottery schedulers; nil uses seed 1
}

// EnsureDefaults fills unset options.
func (o *SchedulerOptions) EnsureDefaults() {
	if o.Quantum == 0 {
		o.Quantum = 10 * time.Second
	}
	if o.Aging == 0 {
		o.Aging = time.Minute
	}
	if o.Random == nil {
		o.Random = rand.New(rand.NewPCG(1, 0))
	}
}

// Validate returns every invalid option.
func (o *SchedulerOptions) Validate() error {
	if o.Quantum < 0 || o.Aging < 0 {
		return fmt.Errorf("quantum is %v and aging is %v; both must be at least 0", o.Quantum, o.Aging)
	}
	return nil
}

// Fault returns the reason why a decision is impossible; nil if it is possible.
func (m *Machine) Fault(d Decision) error {
	switch {
	case d.Stop != nil && d.Stop.State != Running:
		return fmt.Errorf("cannot stop task %s, because it is not running", d.Stop.Name)
	case d.Start == nil:
		return nil
	case d.Start.State != Queued && d.Start.State != Held:
		return fmt.Errorf("cannot start task %s, because it is not queued", d.Start.Name)
	case d.On == nil || !m.Holds(d.Start, d.On):
		return fmt.Errorf("cannot start task %s, because the device has no room for it", d.Start.Name)
	}
	return nil
}
