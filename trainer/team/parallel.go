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

// Parallel are the options of training in several processes, one per device of the allocation. Losses equal the losses
// of a single process up to rounding.
type Parallel struct {
	// starts one process per device; false trains in one process, and devices only divide the cost of work on a virtual
	// clock
	On bool
	// maximum number of processes, including the leader; zero means one per device
	MaxProcesses int           `config:",was=most"`
	Threads      int           // LibTorch threads per process on the CPU; zero divides one process's threads evenly
	Timeout      time.Duration // wall-clock time after which a silent process is considered lost; zero means a minute
	Start        time.Duration // wall-clock limit for a process to become ready; zero means ten minutes
	// Background continues training while processes start. False waits for them, so the same steps run on the same
	// number of processes in every run.
	Background bool
	// Listen is the private IP address and port at which followers on other machines join by 'graft follow --join', one
	// for each device except the first. Empty starts the followers on this machine. With slurm:PORT, task 0 of 'srun
	// graft train' listens at its node's address, and the other tasks join it.
	Listen string `json:",omitempty" result:"none"`
	// file with the token that followers must present; required with listen, except with slurm, which also accepts the
	// variable GRAFT_TOKEN
	Token string `config:"token_file" json:",omitempty" result:"none"`
	// MinProcesses is the number of processes, including the leader, that a job waits for at its start and when it
	// resumes. The job fails if they are not ready within Start. Requires listen. Zero does not wait.
	MinProcesses int `json:",omitempty" result:"none"`
	// Elastic derives the number of devices from the followers: each follower that becomes ready is an up of one
	// device, each one that leaves or is lost is a down. Requires listen. The timeline and POST /allocation must not
	// change devices then.
	Elastic bool `json:",omitempty"`
}

// EnsureDefaults fills unset options.
func (p *Parallel) EnsureDefaults() {
	p.Timeout, p.Start = cmp.Or(p.Timeout, time.Minute), cmp.Or(p.Start, 10*time.Minute)
}

// Validate returns every invalid option.
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
		"parallel: listen needs token_file and on = true, and token_file needs listen")
	if n, err := strconv.ParseUint(port, 10, 16); slurm && (err != nil || n == 0) {
		faults = append(faults, fmt.Errorf("parallel: listen %q: invalid port %q", p.Listen, port))
	}
	if host, _, err := net.SplitHostPort(p.Listen); p.Listen != "" && !slurm {
		if err == nil {
			err = trusted(host)
		}
		faults.When(err != nil, "parallel: listen %q: %w", p.Listen, err)
	}
	return errors.Join(faults...)
}

// Slurm returns the port of task 0 if the tasks of srun train together.
func (p Parallel) Slurm() (port string, is bool) { return strings.CutPrefix(p.Listen, "slurm:") }

// most is the maximum number of processes.
func (p Parallel) most() int { return cmp.Or(p.MaxProcesses, mostIdle+1) }

// Wanted is the number of processes for a number of devices.
func (p Parallel) Wanted(devices int) int {
	switch {
	case !p.On:
		return 1
	case p.MaxProcesses > 0:
		return max(1, min(devices, p.MaxProcesses))
	}
	return max(1, devices)
}
