package execute

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"graft/cluster/node"
	"graft/fleet"
	"graft/internal/files"
	"graft/internal/validate"
	"graft/results"
)

// Device is a GPU, or a set of CPU cores on a machine without GPUs.
type Device struct {
	UUID   string  // of a GPU or of an instance of it, as CUDA_VISIBLE_DEVICES takes it; empty is a set of cores
	CPUs   []int   // cores that tasks on the device may use, by number; nil is all of this process's
	Memory float64 // MiB, which tasks share; zero is 16384
	Speed  float64 // work in a second, relative to the device of the estimates; zero is 1
}

// Options configure an executor.
type Options struct {
	Run        *results.Run          // folder of the journal and the logs, which it locks. Required by Run
	Files      files.FS              // logs, processes and cgroups. Required
	Clock      fleet.Clock           // Required by Run
	Kind       node.Kind             // scheduler. Required
	Scheduling node.SchedulerOptions // of the scheduler
	Devices    []Device              // at least one
	Rules      node.Rules            // of the devices; Keep stops tasks by SIGSTOP, otherwise by SIGTERM
	Grace      time.Duration         // between SIGTERM and SIGKILL; zero is 10 s
	LogLimit   int64                 // of the log of an attempt, bytes; zero is 16 MiB
	// Cgroup is a folder of a cgroup v2 in which groups for the tasks are made; empty is this process's group,
	// and NoCgroup makes none.
	Cgroup   string
	Meter    Meter       // energy of tasks; nil measures none
	Observer func(Event) // called after each event by the goroutine of Run, which waits; nil is none
}

// NoCgroup is the option Cgroup of an executor that makes no cgroup.
const NoCgroup = "none"

// Meter measures the energy of a task on a device.
type Meter interface {
	// Begin begins a measurement when a task starts or goes on on a device, by its place; nil is none.
	Begin(device int) Reading
}

// Reading is a measurement.
type Reading interface {
	// End returns the energy since Begin in joules, and the method of the measurement.
	End() (joules float64, method string)
}

// EnsureDefaults fills unset options.
func (o *Options) EnsureDefaults() {
	o.Scheduling.EnsureDefaults()
	o.Grace, o.LogLimit = cmp.Or(o.Grace, 10*time.Second), cmp.Or(o.LogLimit, 16<<20)
	o.Devices = slices.Clone(o.Devices)
	for k := range o.Devices {
		d := &o.Devices[k]
		d.Memory, d.Speed = cmp.Or(d.Memory, 16384), cmp.Or(d.Speed, 1)
	}
	if o.Observer == nil {
		o.Observer = func(Event) {}
	}
}

// uuidPattern matches names of GPUs and of their instances.
var uuidPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9/_-]*$`)

// Validate lists the faults of options that have their defaults.
func (o *Options) Validate() error {
	if o.Files == nil || o.Kind.New == nil {
		return errors.New("files or a scheduler are missing")
	}
	faults := validate.Faults{o.Scheduling.Validate()}
	faults.When(o.Grace < 0 || o.LogLimit < 0, "grace of %v and log limit of %d bytes: expected no negative values",
		o.Grace, o.LogLimit)
	faults.When(len(o.Devices) == 0, "there are no devices; name at least one")
	var own unix.CPUSet
	known := unix.SchedGetaffinity(0, &own) == nil
	for k, d := range o.Devices {
		faults.When(d.UUID != "" && !uuidPattern.MatchString(d.UUID),
			"device %d: UUID %q: expected that of a GPU, as nvidia-smi -L prints it", k, d.UUID)
		for _, cpu := range d.CPUs {
			faults.When(cpu < 0 || known && !own.IsSet(cpu),
				"device %d: this process may not use CPU core %d; it may use %d cores, which taskset -cp lists", k, cpu,
				own.Count())
		}
	}
	return errors.Join(faults...)
}

// study describes the jobs and devices for checks and simulations.
func (o *Options) study(jobs []Job) node.Study {
	s := node.Study{Options: node.Options{Together: o.Rules.Together, Whole: o.Rules.Whole, Keep: o.Rules.Keep}}
	for _, d := range o.Devices {
		s.Options.Devices = append(s.Options.Devices, node.Device{Memory: d.Memory, Speed: d.Speed})
	}
	for k := range jobs {
		s.Tasks = append(s.Tasks, jobs[k].Spec)
	}
	return s
}
