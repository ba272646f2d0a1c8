package world

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"graft/cluster/execute"
	"graft/cluster/node"
	"graft/cluster/node/schedulers"
	"graft/internal/files"
	"graft/internal/validate"
)

// Executor configures how 'graft node run' runs tasks.
type Executor struct {
	// Devices that run tasks: "gpu" uses the machine's GPUs, "cpu" divides the machine's processors into machine.gpus
	// slots, "auto" means "gpu" if NVIDIA's library finds GPUs and "cpu" otherwise. Default "auto".
	Devices string `config:",one=auto|gpu|cpu"`
	// UUIDs of the GPUs to use, as 'nvidia-smi -L' prints them. Empty means all GPUs.
	UUIDs []string      `config:"uuids"`
	Grace time.Duration // Time between SIGTERM and SIGKILL when a task is stopped. Default 10s.
	// Maximum log size per attempt of a task, in MiB. The middle of a longer log is discarded. Default 16.
	Log int `config:"log_mb"`
	// Path of a cgroup v2 directory that the user can write to; "none" disables cgroups. Empty means graft's own cgroup
	// if it is writable.
	Cgroup string
	// Delay before the first retry of a task; each further retry doubles the delay. Default 1s.
	Backoff  time.Duration
	Sampling time.Duration // Interval at which the state of the devices is sampled, from 10ms to 1s. Default 100ms.
	// Power of an idle device in watts, subtracted from the measured power to compute net_joules. Zero measures the
	// idle power for one second before the first task. A negative value leaves net_joules empty.
	IdleWatts float64
}

// Values of [Executor] key devices.
const (
	onAny = "auto"
	onGPU = "gpu"
	onCPU = "cpu"
)

// Sampling periods that the sampler of package telemetry accepts. A test of runner/node compares them.
const (
	ShortestSampling = 10 * time.Millisecond
	UsualSampling    = 100 * time.Millisecond
	LongestSampling  = time.Second
)

// EnsureDefaults fills in defaults.
func (e *Executor) EnsureDefaults() {
	e.Devices, e.Grace, e.Log, e.Backoff = cmp.Or(e.Devices, onAny), cmp.Or(e.Grace, 10*time.Second), cmp.Or(e.Log, 16),
		cmp.Or(e.Backoff, time.Second)
	e.Sampling = cmp.Or(e.Sampling, UsualSampling)
}

// mostLog is the upper limit of Log, MiB.
const mostLog = 1 << 20

// Validate returns an error that lists every invalid option.
func (e Executor) Validate() error {
	var faults validate.Faults
	faults.When(e.Grace < 0 || e.Backoff < 0, "grace is %v and backoff is %v; both must be at least 0", e.Grace,
		e.Backoff)
	faults.When(e.Log < 1 || e.Log > mostLog, "log_mb is %d; must be from 1 to %d", e.Log, mostLog)
	faults.When(len(e.UUIDs) > 0 && e.Devices == onCPU,
		"uuids lists GPUs, but devices is \"cpu\"; remove one of the two keys")
	faults.When(e.Sampling < ShortestSampling || e.Sampling > LongestSampling,
		"sampling is %v; must be from %v to %v", e.Sampling, ShortestSampling, LongestSampling)
	return errors.Join(faults...)
}

// GPUs reports whether tasks may run on GPUs, and whether they must run on GPUs.
func (e *Executor) GPUs() (may, must bool) {
	return e.Devices != onCPU, e.Devices == onGPU || len(e.UUIDs) > 0
}

// Jobs returns the tasks with their commands. Every task needs a command. Relative folders are relative to the working
// directory.
func (f *File) Jobs() ([]execute.Job, error) {
	if len(f.Task) == 0 {
		return nil, errors.New("run tasks: the file has no tasks; add a table [[task]] with a command for each task")
	}
	var jobs []execute.Job
	for k, t := range f.ExpandedTasks() {
		if len(t.Command) == 0 {
			return nil, fmt.Errorf("run tasks: task %s has no command; add command = [\"program\", \"argument\"], "+
				"or simulate it with 'graft node simulate'", t.Name)
		}
		folder := t.Folder
		if folder != "" {
			folder = filepath.Clean(folder)
		}
		jobs = append(jobs, execute.Job{Spec: f.specs[k], Command: t.Command, Folder: folder, Env: t.Env,
			Timeout: t.Timeout, Retries: t.Retries, Backoff: f.Executor.Backoff, Checkpoint: t.Checkpoint,
			MemoryLimit: t.MainMemory})
	}
	return jobs, nil
}

// Execution returns the options of an executor that runs the file's tasks on the given devices.
func (f *File) Execution(fsys files.FS, devices []execute.Device) execute.Options {
	o := f.Machine.options()
	return execute.Options{Files: fsys, Kind: f.scheduler(), Scheduling: f.Schedule.options(f.Schedule.Seed, 0),
		Devices: devices, Rules: o.Rules(), Grace: f.Executor.Grace, LogLimit: int64(f.Executor.Log) << 20,
		Cgroup: f.Executor.Cgroup}
}

// scheduler returns the scheduler that runs tasks: the first of the file, otherwise backfill if each task has a
// duration or an estimate, which backfill needs, and fcfs if not.
func (f *File) scheduler() node.Kind {
	if len(f.baselines) > 0 {
		return f.baselines[0].Kind
	}
	name := "backfill"
	if slices.ContainsFunc(f.specs, func(s node.Spec) bool { return s.Work == 0 && s.Estimate == 0 }) {
		name = "fcfs"
	}
	kind, _ := schedulers.Named(name) // the name is registered
	return kind
}

// Slots returns the devices of a machine without GPUs: one slot per configured GPU. The available processors are
// divided among the slots. Slots share processors if there are fewer processors than slots.
func (f *File) Slots(processors []int) (slots []execute.Device) {
	devices := f.Machine.options().Devices
	for k, d := range devices {
		slot := execute.Device{Memory: d.Memory, Speed: d.Speed}
		from, to := k*len(processors)/len(devices), (k+1)*len(processors)/len(devices)
		if from == to && len(processors) > 0 {
			to = from + 1
		}
		slot.CPUs = processors[from:to]
		slots = append(slots, slot)
	}
	return slots
}

// checkCommands reports faults that would prevent the commands from running, as far as they show without devices.
func (f *File) checkCommands() error {
	if !slices.ContainsFunc(f.Task, func(t Task) bool { return len(t.Command) > 0 }) {
		return nil // simulated tasks need no command
	}
	jobs, err := f.Jobs()
	if err != nil {
		return err
	}
	return execute.Check(f.Execution(f.fsys, f.Slots(nil)), jobs)
}
