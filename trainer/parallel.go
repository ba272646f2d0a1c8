package trainer

import (
	"errors"
	"fmt"
	"time"
)

// Parallel says whether a job trains on all devices of its allocation, one process
// for each, or on one of them only. Losses are those of one process but for
// rounding.
type Parallel struct {
	On      bool          // a process for each device; false trains in one, and devices only divide what work costs on a virtual clock
	Most    int           // processes, the leader among them; zero means as many as devices
	Threads int           // of LibTorch in each process on the CPU; zero shares out what one process has
	Timeout time.Duration // of the machine's time, after which a silent process is given up; zero means a minute
	Start   time.Duration // of the machine's time, that a process may take until it is ready; zero means ten minutes
	// Background trains on while processes get ready; false waits for them, so that
	// the same steps are taken by as many processes in every run.
	Background bool
}

// EnsureDefaults fills in what zero stands for.
func (p *Parallel) EnsureDefaults() {
	if p.Timeout == 0 {
		p.Timeout = time.Minute
	}
	if p.Start == 0 {
		p.Start = 10 * time.Minute
	}
}

// Validate lists all that is wrong.
func (p Parallel) Validate() error {
	var faults []error
	if p.Most < 0 || p.Threads < 0 {
		faults = append(faults, fmt.Errorf("parallel: at most %d processes of %d threads; neither is negative", p.Most, p.Threads))
	}
	if p.Timeout < 0 || p.Timeout > 0 && p.Timeout < 10*time.Millisecond || p.Start < 0 {
		faults = append(faults, errors.New("parallel: a timeout is 10ms at least, and times are not negative"))
	}
	return errors.Join(faults...)
}

// wanted is how many processes an allocation gives work to.
func (p Parallel) wanted(devices int) int {
	switch {
	case !p.On:
		return 1
	case p.Most > 0:
		return max(1, min(devices, p.Most))
	}
	return max(1, devices)
}
