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

// Parallel are the options of training in several processes, one for each device of the
// allocation. Losses are those of one process but for rounding.
type Parallel struct {
	// a process for each device; false trains in one, and devices only divide the cost of work on a virtual clock
	On           bool
	MaxProcesses int           // processes, with the leader; zero means one for each device
	Threads      int           // of LibTorch in each process on the CPU; zero divides those of one process
	Timeout      time.Duration // of the machine's time, after which a silent process is lost; zero means a minute
	Start        time.Duration // limit of the machine's time until a process is ready; zero means ten minutes
	// Background trains on while processes start; false waits for them, so that the same
	// steps are taken by the same number of processes in every run.
	Background bool
	// Listen is the private IP address and the port at which followers on other machines join by 'graft follow
	// --join', one for each device but the first; empty starts them on this machine. With slurm:PORT task 0 of 'srun
	// graft train' listens at its node's address, and the other tasks join it.
	Listen string `json:",omitempty" result:"none"`
	// file of the token that they must know; required with listen, but with slurm the variable GRAFT_TOKEN
	// may hold it
	Token string `config:"token_file" json:",omitempty" result:"none"`
	// MinProcesses is the number of processes, with the leader, that a job waits for before it trains, at its start and
	// when it resumes; after the time of start it fails. It requires listen; zero waits for none.
	MinProcesses int `json:",omitempty" result:"none"`
	// Elastic derives the devices from the followers: each one that is ready is an up of one device, each one that
	// leaves or is lost a down. It requires listen, and neither the timeline nor POST /allocation changes devices then.
	Elastic bool `json:",omitempty"`
}

// EnsureDefaults fills unset options.
func (p *Parallel) EnsureDefaults() {
	p.Timeout, p.Start = cmp.Or(p.Timeout, time.Minute), cmp.Or(p.Start, 10*time.Minute)
}

// Validate lists all invalid options.
func (p Parallel) Validate() error {
	var faults validate.Faults
	faults.When(p.MaxProcesses < 0 || p.Threads < 0,
		"parallel: at most %d processes of %d threads; neither is negative", p.MaxProcesses, p.Threads)
	faults.When(p.Timeout < 0 || p.Timeout > 0 && p.Timeout < 10*time.Millisecond || p.Start < 0,
		"parallel: a timeout is 10ms at least, and times are not negative")
	faults.When(p.Listen == "" && (p.Elastic || p.MinProcesses > 0),
		"parallel: elastic and min_processes wait for followers of other machines; set listen too")
	if p.MinProcesses < 0 || p.MinProcesses > p.most() {
		faults = append(faults, fmt.Errorf("parallel: min_processes is %d; "+
			"it lies between 0 and max_processes, at most %d", p.MinProcesses, p.most()))
	}
	port, slurm := p.Slurm()
	faults.When(p.Listen == "" && p.Token != "" || p.Listen != "" && (p.Token == "" && !slurm || !p.On),
		"parallel: listen and token_file go together, with on = true")
	if n, err := strconv.ParseUint(port, 10, 16); slurm && (err != nil || n == 0) {
		faults = append(faults, fmt.Errorf("parallel: listen %q: %q is no port", p.Listen, port))
	}
	if host, _, err := net.SplitHostPort(p.Listen); p.Listen != "" && !slurm {
		if err == nil {
			err = trusted(host)
		}
		faults.When(err != nil, "parallel: listen %q: %w", p.Listen, err)
	}
	return errors.Join(faults...)
}

// Slurm returns the port of task 0 where the tasks of srun train together.
func (p Parallel) Slurm() (port string, is bool) { return strings.CutPrefix(p.Listen, "slurm:") }

// most is the largest number of processes.
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
