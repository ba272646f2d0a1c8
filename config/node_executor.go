package config

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
	"graft/internal/telemetry"
	"graft/internal/validate"
)

// ExecutorOptions say how 'graft node run' runs tasks.
type ExecutorOptions struct {
	// Devices selects the devices of tasks: gpu is the machine's GPUs, cpu is machine.gpus slots of its processors,
	// auto is gpu where NVIDIA's library finds some, else cpu. Empty means auto.
	Devices string        `config:",one=auto|gpu|cpu"`
	UUIDs   []string      `config:"uuids"` // GPUs to use, as nvidia-smi -L prints them; empty means all
	Grace   time.Duration // between SIGTERM and SIGKILL; zero means 10s
	// largest log of an attempt, MiB; its middle is left out beyond. Zero means 16
	Log int `config:"log_mb"`
	// folder of a cgroup v2 that the user may write; none uses none; empty means that of graft, where it
	// may be written
	Cgroup   string
	Backoff  time.Duration // wait before the first retry of a task, which doubles; zero means 1s
	Sampling time.Duration // time between readings of the devices, from 10ms to 1s; zero means 100ms
	// IdleWatts is the power of an idle device, which one column of the energy leaves out. Zero measures it
	// for a second before the first task; negative leaves the column empty.
	IdleWatts float64
}

// Devices of an executor.
const (
	onAny = "auto"
	onGPU = "gpu"
	onCPU = "cpu"
)

// EnsureDefaults fills in what zero stands for.
func (o *ExecutorOptions) EnsureDefaults() {
	o.Devices, o.Grace, o.Log, o.Backoff = cmp.Or(o.Devices, onAny), cmp.Or(o.Grace, 10*time.Second), cmp.Or(o.Log, 16),
		cmp.Or(o.Backoff, time.Second)
	s := telemetry.SamplerOptions{Interval: o.Sampling}
	s.EnsureDefaults()
	o.Sampling = s.Interval
}

// mostLog bounds the log of an attempt, MiB.
const mostLog = 1 << 20

// Validate joins all that is wrong.
func (o ExecutorOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Grace < 0 || o.Backoff < 0, "grace is %v and backoff %v; must not be negative", o.Grace, o.Backoff)
	faults.When(o.Log < 1 || o.Log > mostLog, "log_mb is %d; must be from 1 to %d", o.Log, mostLog)
	faults.When(len(o.UUIDs) > 0 && o.Devices == onCPU, "uuids name GPUs, but devices is cpu; leave out one of them")
	s := telemetry.SamplerOptions{Interval: o.Sampling}
	if err := s.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("sampling: %w", err))
	}
	return errors.Join(faults...)
}

// GPUs reports whether tasks may run on GPUs, and whether they must.
func (o *ExecutorOptions) GPUs() (may, must bool) {
	return o.Devices != onCPU, o.Devices == onGPU || len(o.UUIDs) > 0
}

// Jobs returns the tasks with their commands. All must have one. Folders count from the working folder.
func (n *Node) Jobs() ([]execute.Job, error) {
	if len(n.Task) == 0 {
		return nil, errors.New("run tasks: the file has no table [[task]] with a command; write one for each task")
	}
	var jobs []execute.Job
	for k, t := range n.ExpandedTasks() {
		if len(t.Command) == 0 {
			return nil, fmt.Errorf("run tasks: task %s has no command; add command = [\"program\", \"argument\"], "+
				"or simulate it by 'graft node simulate'", t.Name)
		}
		folder := t.Folder
		if folder != "" {
			folder = filepath.Clean(folder)
		}
		jobs = append(jobs, execute.Job{Spec: n.specs[k], Command: t.Command, Folder: folder, Env: t.Env,
			Timeout: t.Timeout, Retries: t.Retries, Backoff: n.Executor.Backoff, Checkpoint: t.Checkpoint,
			MemoryLimit: t.MainMemory})
	}
	return jobs, nil
}

// Execution returns the options of an executor on devices.
func (n *Node) Execution(fsys files.FS, devices []execute.Device) execute.Options {
	o := n.Options()
	return execute.Options{Files: fsys, Kind: n.scheduler(), Scheduling: n.Schedule.Options(0), Devices: devices,
		Rules: o.Rules(), Grace: n.Executor.Grace, LogLimit: int64(n.Executor.Log) << 20, Cgroup: n.Executor.Cgroup}
}

// scheduler is the one that runs tasks: the first of the file, else backfill where all durations are known,
// which it needs, and fcfs where some are not.
func (n *Node) scheduler() node.Kind {
	if len(n.rivals) > 0 {
		return n.rivals[0].Kind
	}
	name := "backfill"
	if slices.ContainsFunc(n.specs, func(s node.Spec) bool { return s.Work == 0 && s.Estimate == 0 }) {
		name = "fcfs"
	}
	kind, _ := schedulers.Named(name) // it is registered
	return kind
}

// Slots are devices of a machine without GPUs: the processors that may be used are divided among as many as
// the machine has GPUs, and shared where there are fewer.
func (n *Node) Slots(processors []int) (slots []execute.Device) {
	devices := n.Options().Devices
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

// checkCommands finds what would keep the commands from running, as far as that is known without devices.
func (n *Node) checkCommands() error {
	if !slices.ContainsFunc(n.Task, func(t NodeTask) bool { return len(t.Command) > 0 }) {
		return nil // they are simulated
	}
	jobs, err := n.Jobs()
	if err != nil {
		return err
	}
	return execute.Check(n.Execution(n.fsys, n.Slots(nil)), jobs)
}
