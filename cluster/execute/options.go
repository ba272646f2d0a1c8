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
	UUID   string  // UUID of a GPU or of a GPU instance, as in CUDA_VISIBLE_DEVICES; empty means a set of cores
	CPUs   []int   // core numbers for tasks on the device; nil means all cores of this process
	Memory float64 // memory in MiB, shared by the tasks on the device; zero means 16384
	// work per second, relative to the device for which durations were estimated; zero means 1
	Speed float64
}

// Options holds the options of an executor.
type Options struct {
	Run        *results.Run          // run folder with the journal and the logs, which Run locks; required by Run
	Files      files.FS              // file system of logs, processes and cgroups; required
	Clock      fleet.Clock           // clock of the executor; required by Run
	Kind       node.Kind             // scheduler; required
	Scheduling node.SchedulerOptions // options for the scheduler
	Devices    []Device              // devices of the machine, at least one
	// rules for sharing the devices; tasks are stopped by SIGSTOP if Rules.Keep is true, otherwise by SIGTERM
	Rules    node.Rules
	Grace    time.Duration // time between SIGTERM and SIGKILL; zero means 10 s
	LogLimit int64         // maximum size of an attempt's log in bytes; zero means 16 MiB
	// Cgroup is the path of a cgroup v2 directory in which the cgroups of tasks are created. Empty means the cgroup of
	// this process. NoCgroup disables cgroups.
	Cgroup string
	Meter  Meter // measures the energy of tasks; nil measures nothing
	// Observer is called after each event, and blocks the executor until it returns. Nil means no callback.
	Observer func(Event)
}

// NoCgroup is the value of Cgroup that disables cgroups.
const NoCgroup = "none"

// Meter measures the energy that a task uses on a device.
type Meter interface {
	// Begin starts a measurement when a task starts or continues on a device, given by its position in Options.Devices.
	// A nil result means that the device cannot be measured.
	Begin(device int) Reading
}

// Reading is an energy measurement in progress.
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

// Validate returns an error that lists every invalid option. Call Validate after EnsureDefaults.
func (o *Options) Validate() error {
	if o.Files == nil || o.Kind.New == nil {
		return errors.New("the file system or the scheduler is missing; set both")
	}
	faults := validate.Faults{o.Scheduling.Validate()}
	faults.When(o.Grace < 0 || o.LogLimit < 0, "grace is %v and the log limit is %d bytes; both must be at least 0",
		o.Grace, o.LogLimit)
	faults.When(len(o.Devices) == 0, "the list of devices is empty; name at least one")
	var own unix.CPUSet
	known := unix.SchedGetaffinity(0, &own) == nil
	for k, d := range o.Devices {
		faults.When(d.UUID != "" && !uuidPattern.MatchString(d.UUID),
			"device %d: invalid UUID %q; expected the UUID of a GPU, as nvidia-smi -L prints it", k, d.UUID)
		for _, cpu := range d.CPUs {
			faults.When(cpu < 0 || known && !own.IsSet(cpu),
				"device %d: CPU core %d is not available to this process; 'taskset -cp' lists the %d available "+
					"cores", k,
				cpu, own.Count())
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
