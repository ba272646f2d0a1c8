// Package workers handles the processes that run a simulation or trials, with any engine: their options, number, state,
// logs and end.
package workers

import (
	"cmp"
	"runtime"
	"strconv"

	"graft/config"
	"graft/internal/failure"
	"graft/torch"
)

// Options are the options of one worker.
type Options struct {
	Threads int    // LibTorch threads; 0 uses run.threads, else Given
	Given   string // threads that the fleet assigns to each worker, as text; empty means LibTorch's default
	Device  string // training device, such as cuda:1; empty means run.device
	Name    string // name of the worker in leases, usually its number
	// MemoryShare is the share of its device's memory that a worker may use, as text; empty means no limit.
	MemoryShare string
	Measure     int    // measure next to this number of workers, instead of working; zero works
	Folder      string // folder of the batch, for Measure
}

// MemoryVariable is the environment variable with a worker's share of its device's memory.
const MemoryVariable = "GRAFT_MEMORY_SHARE"

// UseThreads limits LibTorch's threads to the worker's share of the processors. Configured applies if the options give
// no number; zero means none.
func (o Options) UseThreads(configured int) error {
	n := cmp.Or(o.Threads, configured)
	if n == 0 && o.Given != "" {
		var err error
		if n, err = strconv.Atoi(o.Given); err != nil {
			return failure.Usagef("GRAFT_THREADS is %q; expected a number", o.Given)
		}
	}
	if n == 0 {
		return nil
	}
	return torch.SetThreads(n)
}

// clusterWorkers is the default number of workers on a cluster.
const clusterWorkers = 4

// Number returns the number of concurrent workers, for jobs on a device.
func Number(o config.FleetOptions, device string) int {
	switch {
	case o.Workers > 0:
		return o.Workers
	case o.Engine != "local":
		return clusterWorkers
	case len(o.Devices) > 0:
		return len(o.Devices)
	case device != "cpu":
		return 1
	}
	return runtime.NumCPU()
}
