package node

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Decision starts a queued task on a device, or stops a running task. The zero value means no action.
type Decision struct {
	Start, Stop *Task   // task to start and task to stop; at most one of them is set
	On          *Device // device on which Start starts
}

// Scheduler decides which tasks run on which devices. Only one goroutine uses it at a time.
type Scheduler interface {
	// Decide returns the next decision. It is called after tasks have arrived, ended or used up their time slices, and
	// again after each decision, until it returns a zero decision.
	Decide(m *Machine) Decision
}

// Slicer is a scheduler that time-shares devices.
type Slicer interface {
	// Slice returns the time slice of a task that just started. When the slice ends, the task returns to the queue.
	// Zero lets the task run to completion.
	Slice(t *Task) time.Duration
}

// Kind is a registered scheduler.
type Kind struct {
	Name  string // name in files and flags
	About string // help text in one line
	// Slices is true if the scheduler preempts tasks. Such a scheduler requires programs that support preemption.
	Slices bool
	Draws  bool // decisions depend on SchedulerOptions.Random
	New    func(o SchedulerOptions) Scheduler
}

// Listing returns the name and a one-line description.
func (k Kind) Listing() (name, about string) { return k.Name, k.About }

// SchedulerOptions holds the options of all schedulers. Each scheduler reads only its own options.
type SchedulerOptions struct {
	Quantum time.Duration // time slice of time-sharing schedulers; zero means 10 s
	// waiting time after which the priority of a task rises by one step; zero means 60 s
	Aging  time.Duration
	Random *rand.Rand // random numbers of lottery schedulers; nil means seed 1
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

// Validate returns an error that lists every invalid option.
func (o *SchedulerOptions) Validate() error {
	if o.Quantum < 0 || o.Aging < 0 {
		return fmt.Errorf("quantum is %v and aging is %v; both must be at least 0", o.Quantum, o.Aging)
	}
	return nil
}

// Fault returns the reason why a decision is impossible, or nil if it is possible.
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
