package team

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"graft/internal/validate"
)

// Parallel configures training in several processes, one per device of the allocation. Losses equal the losses of a
// single process up to rounding.
type Parallel struct {
	// Starts one training process per device. False trains in one process. The number of devices then affects only the
	// virtual clock, which divides the cost of work by this number.
	On bool
	// Maximum number of processes, including the leader. Zero means one per device.
	MaxProcesses int `config:",was=most"`
	// Number of LibTorch threads per process on the CPU. Zero divides run.threads evenly among the processes.
	Threads int
	// Wall-clock time without a message after which a process is considered lost. Zero means one minute.
	Timeout time.Duration
	// Maximum wall-clock time from the start of a process until it is ready. Zero means ten minutes.
	Start time.Duration
	// Continues training while processes start. If false, training waits until all processes are ready, so that every
	// run uses the same number of processes for the same steps.
	Background bool
	// Private IP address and port on which the leader listens for followers. Each device except the first needs one
	// follower, started on another machine by 'graft follow --join'. With "slurm:PORT", task 0 of 'srun graft train'
	// listens on its node's address, and the other tasks join it. Empty starts the followers on this machine.
	Listen string `json:",omitempty" result:"none"`
	// Path of the file with the token that followers must present. Required if listen is set; with "slurm:PORT", the
	// environment variable GRAFT_TOKEN can replace the file.
	Token string `config:"token_file" json:",omitempty" result:"none"`
	// Minimum number of processes, including the leader, that a job waits for when it starts or resumes. The job fails
	// if these processes are not ready within parallel.start. Requires listen. Zero starts the job without waiting.
	MinProcesses int `json:",omitempty" result:"none"`
	// Derives the number of devices from the followers: each follower that becomes ready adds a device, and each
	// follower that leaves or is lost removes one. Requires listen. If true, the timeline and POST /allocation must
	// not change devices. Default false.
	Elastic bool `json:",omitempty"`
}

// EnsureDefaults fills unset options.
func (p *Parallel) EnsureDefaults() {
	p.Timeout, p.Start = cmp.Or(p.Timeout, time.Minute), cmp.Or(p.Start, 10*time.Minute)
}

// Validate returns an error that lists every invalid option.
func (p Parallel) Validate() error {
	var faults validate.Faults
	faults.When(p.MaxProcesses < 0 || p.Threads < 0,
		"parallel: max_processes is %d and threads is %d; must be at least 0", p.MaxProcesses, p.Threads)
	faults.When(p.Timeout < 0 || p.Timeout > 0 && p.Timeout < 10*time.Millisecond || p.Start < 0,
		"parallel: timeout is %v and start is %v; timeout must be at least 10ms, and start must not be negative",
		p.Timeout, p.Start)
	faults.When(p.Listen == "" && (p.Elastic || p.MinProcesses > 0),
		"parallel: elastic and min_processes require followers from other machines; set parallel.listen")
	if p.MinProcesses < 0 || p.MinProcesses > p.most() {
		faults = append(faults, fmt.Errorf("parallel: min_processes is %d; "+
			"must be between 0 and max_processes (%d)", p.MinProcesses, p.most()))
	}
	port, slurm := p.Slurm()
	faults.When(p.Listen == "" && p.Token != "" || p.Listen != "" && (p.Token == "" && !slurm || !p.On),
		"parallel: listen requires token_file and on = true, and token_file requires listen")
	if n, err := strconv.ParseUint(port, 10, 16); slurm && (err != nil || n == 0) {
		faults = append(faults, fmt.Errorf("parallel: listen %q: invalid port %q; expected a number from 1 to 65535",
			p.Listen, port))
	}
	if host, _, err := net.SplitHostPort(p.Listen); p.Listen != "" && !slurm {
		if err == nil {
			err = trusted(host)
		}
		faults.When(err != nil, "parallel: listen %q: %w", p.Listen, err)
	}
	return errors.Join(faults...)
}

// Slurm returns the port of task 0, and reports whether the tasks of one srun command train together.
func (p Parallel) Slurm() (port string, is bool) { return strings.CutPrefix(p.Listen, "slurm:") }

// most is the maximum number of processes.
func (p Parallel) most() int { return cmp.Or(p.MaxProcesses, mostIdle+1) }

// Wanted returns the number of processes to run on the given number of devices.
func (p Parallel) Wanted(devices int) int {
	switch {
	case !p.On:
		return 1
	case p.MaxProcesses > 0:
		return max(1, min(devices, p.MaxProcesses))
	}
	return max(1, devices)
}
