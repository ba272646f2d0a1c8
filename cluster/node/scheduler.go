package node

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Decision starts a task of the queue on a device, or stops a running one. The zero value does neither.
type Decision struct {
	Start, Stop *Task   // one of them, or none
	On          *Device // for Start
}

// Scheduler decides which tasks run where. One goroutine uses it at a time.
type Scheduler interface {
	// Decide returns the next decision of a moment. It is called whenever tasks have arrived, ended or
	// used up their slices, and again after each decision, until one is zero.
	Decide(m *Machine) Decision
}

// Slicer is a scheduler that shares devices in time.
type Slicer interface {
	// Slice returns the time after which a task that was just started goes back to the queue; zero lets
	// it run until it completes.
	Slice(t *Task) time.Duration
}

// Kind is a registered scheduler.
type Kind struct {
	Name  string // by which it is called
	About string // what it does, in a line
	// Slices says that it stops tasks, so that their programs must allow that.
	Slices bool
	Draws  bool // its decisions depend on SchedulerOptions.Random
	New    func(o SchedulerOptions) Scheduler
}

// Listing returns the name and the line of help.
func (k Kind) Listing() (name, about string) { return k.Name, k.About }

// SchedulerOptions holds the options of all kinds of schedulers; each uses those that it needs.
type SchedulerOptions struct {
	Quantum time.Duration // slice of schedulers that share in time; zero is 10 s
	Aging   time.Duration // waiting time that counts as one step of priority; zero is 60 s
	Random  *rand.Rand    // of lotteries; nil is seed 1
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

// Validate lists all faults.
func (o *SchedulerOptions) Validate() error {
	if o.Quantum < 0 || o.Aging < 0 {
		return fmt.Errorf("a quantum of %v and aging of %v: expected times that are not negative", o.Quantum, o.Aging)
	}
	return nil
}

// Fault says why a decision cannot be carried out; nil if it can.
func (m *Machine) Fault(d Decision) error {
	switch {
	case d.Stop != nil && d.Stop.State != Running:
		return fmt.Errorf("it stops task %s, which does not run", d.Stop.Name)
	case d.Start == nil:
		return nil
	case d.Start.State != Queued && d.Start.State != Held:
		return fmt.Errorf("it starts task %s, which is not queued", d.Start.Name)
	case d.On == nil || !m.Holds(d.Start, d.On):
		return fmt.Errorf("it starts task %s on a device that does not hold it", d.Start.Name)
	}
	return nil
}
