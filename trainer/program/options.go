package program

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"graft/internal/validate"
)

// Options configures a program that trains the network itself.
type Options struct {
	// Command that starts a PyTorch program, such as ["python3", "train.py"]. The program trains its own network in its
	// own loop, with graft_job.py; graft enforces the time budget, assigns the devices, decides how the network
	// changes, and manages checkpoints. In the command and in env, {devices} is replaced by the number of devices, and
	// a change of this number restarts the program, which continues from its saved state. Empty means that graft trains
	// the network itself.
	Command []string `json:",omitempty"`
	// Keeps the program running when the number of devices changes; the program must then read the new number from
	// job.devices, which graft_job.py provides. Requires {devices} in command or env. Default false, which restarts the
	// program.
	Regroup bool `json:",omitempty"`
	// Working directory of the program. Empty means the folder of the job file.
	Folder string `result:"none" json:",omitempty"`
	// Environment variables of the program, as NAME=value, in addition to graft's own environment. Empty adds none.
	Env []string `json:",omitempty"`
	// Number of CPU threads of the program, passed on as OMP_NUM_THREADS. Results may depend on this number. Zero means
	// PyTorch's default; in a simulation, which runs several programs in parallel, zero means 1.
	Threads int `json:",omitempty"`
	// Number of examples per validation, from which the virtual clock computes the duration of a validation. Zero means
	// that validation takes no time on the virtual clock.
	ValidationExamples int `json:",omitempty"`
	// Maximum time between two messages that graft receives from the training program. The program sends a message
	// after its start, after each validation and after each step. If graft receives no message during this time, it
	// kills the program. Zero means 10 minutes.
	Silence time.Duration `result:"none"`
}

// On reports whether a program trains the network.
func (o Options) On() bool { return len(o.Command) > 0 }

// EnsureDefaults fills unset options.
func (o *Options) EnsureDefaults() { o.Silence = cmp.Or(o.Silence, 10*time.Minute) }

// Validate returns an error that lists every invalid option.
func (o Options) Validate() error {
	var faults validate.Faults
	faults.When(!o.On() && (o.Folder != "" || len(o.Env) > 0 || o.Threads != 0 || o.ValidationExamples != 0 ||
		o.Regroup),
		"command is empty, but the section has other keys; set command, or remove the section")
	for _, variable := range o.Env {
		name, _, found := strings.Cut(variable, "=")
		faults.When(!found || name == "", "env has %q; expected NAME=value", variable)
	}
	faults.When(o.Regroup && !o.counts(), "regroup is true, but neither command nor env contains %s; set it to false",
		devicesWord)
	faults.When(o.ValidationExamples < 0, "validation_examples is %d; must not be negative", o.ValidationExamples)
	faults.When(o.Threads < 0, "threads is %d; must not be negative", o.Threads)
	faults.When(o.Silence < 0, "silence is %v; must not be negative", o.Silence)
	return errors.Join(faults...)
}

// devicesWord stands for the number of devices in the command and in the environment of a program.
const devicesWord = "{devices}"

// counts reports whether the command or the environment contains the number of devices.
func (o Options) counts() bool {
	return slices.ContainsFunc(slices.Concat(o.Command, o.Env), func(word string) bool {
		return strings.Contains(word, devicesWord)
	})
}

// Restarts reports whether a change of the number of devices restarts the program.
func (o Options) Restarts() bool { return o.counts() && !o.Regroup }

// filled returns a list with the number of devices in place of devicesWord.
func filled(list []string, devices int) []string {
	out := make([]string, len(list))
	for k, word := range list {
		out[k] = strings.ReplaceAll(word, devicesWord, strconv.Itoa(devices))
	}
	return out
}

// String returns the command as text.
func (o Options) String() string { return strings.Join(o.Command, " ") }
