package node

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"graft/internal/validate"
)

// Options describes a machine.
type Options struct {
	GPUs   int     // number of GPUs; zero means 4
	Memory float64 // memory per GPU in MiB; zero means 16384
	// list of GPUs for a machine whose GPUs differ; replaces the fields GPUs and Memory; only Memory and Speed of each
	// device are read
	Devices  []Device
	Together int           // maximum number of tasks on a GPU at a time; zero means no limit
	Whole    bool          // limits the cores of the tasks on a GPU to all cores of the GPU
	Keep     bool          // a stopped task keeps its memory and its device, as with SIGSTOP
	Switch   time.Duration // time that a stopped task loses when it continues
	Power    Power         // power of each GPU; zero values mean the power of a Tesla P100
}

// maxDevices is the largest number of GPUs of a machine.
const maxDevices = 1 << 10

// EnsureDefaults fills unset options.
func (o *Options) EnsureDefaults() {
	o.GPUs, o.Memory = cmp.Or(o.GPUs, 4), cmp.Or(o.Memory, 16384)
	if len(o.Devices) == 0 && o.GPUs > 0 && o.GPUs <= maxDevices {
		for range o.GPUs {
			o.Devices = append(o.Devices, Device{Memory: o.Memory, Speed: 1})
		}
	}
	o.Power.EnsureDefaults()
}

// Validate returns an error that lists every invalid option.
func (o *Options) Validate() error {
	var faults validate.Faults
	if n := len(o.Devices); n == 0 || n > maxDevices {
		faults = append(faults, fmt.Errorf("the machine has %d GPUs; expected 1 to %d", cmp.Or(n, o.GPUs), maxDevices))
	}
	for k, d := range o.Devices {
		faults.When(!(d.Memory > 0 && d.Memory <= maxMemory && d.Speed > 0 && d.Speed <= 1e3),
			"GPU %d has %g MiB of memory and speed %g; expected positive numbers", k, d.Memory, d.Speed)
	}
	faults.When(o.Together < 0 || o.Switch < 0 || o.Switch > maxTime,
		"max_tasks_per_gpu is %d and switch is %v; both must be at least 0", o.Together, o.Switch)
	return errors.Join(append(faults, o.Power.Validate())...)
}

// Rules returns the machine's rules for sharing devices and for stopping tasks.
func (o *Options) Rules() Rules { return Rules{Together: o.Together, Whole: o.Whole, Keep: o.Keep} }
