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

// Options configures one worker.
type Options struct {
	Threads int // number of LibTorch threads; zero means run.threads or, if it is zero too, Given
	// number of threads that the fleet assigns to each worker, as text; empty means LibTorch's default
	Given  string
	Device string // training device, such as cuda:1; empty means run.device
	Name   string // name of the worker in leases, usually its number
	// MemoryShare is the fraction of the device's memory that each worker may use, as text. Empty means no limit.
	MemoryShare string
	// number of concurrent workers in a throughput measurement, which runs instead of the work; zero means no
	// measurement
	Measure int
	Folder  string // path of the batch's folder, for Measure
}

// MemoryVariable is the environment variable for the fraction of the device's memory that each worker may use.
const MemoryVariable = "GRAFT_MEMORY_SHARE"

// UseThreads sets the number of LibTorch's threads. It uses o.Threads; if that is zero, it uses the argument
// configured; if that is zero too, it uses the fleet's number in o.Given. If no number is set, LibTorch keeps its
// default.
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

// Number returns the number of concurrent workers for jobs on a device.
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
