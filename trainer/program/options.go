package program

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"graft/internal/validate"
)

// Options configures a program that trains the network itself.
type Options struct {
	// Command that starts a PyTorch program, such as ["python3", "train.py"]. The program trains its own network in its
	// own loop, with graft_job.py; graft supplies the budget, the devices, decisions, surgery and checkpoints. Empty
	// means that graft trains the network itself.
	Command []string `json:",omitempty"`
	// Working directory of the program. Empty means the folder of the job file.
	Folder string `result:"none" json:",omitempty"`
	// Environment variables of the program, as NAME=value, in addition to graft's own environment. Empty adds none.
	Env []string `json:",omitempty"`
	// Number of CPU threads of the program, passed on as OMP_NUM_THREADS. Results may depend on it. Zero means
	// PyTorch's default; in a simulation, whose programs run side by side, zero means 1.
	Threads int `json:",omitempty"`
	// Number of validation examples, for which the virtual clock charges time. Zero means that validation takes no time
	// on the virtual clock.
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

// Validate returns every invalid option.
func (o Options) Validate() error {
	var faults validate.Faults
	faults.When(!o.On() && (o.Folder != "" || len(o.Env) > 0 || o.Threads != 0 || o.ValidationExamples != 0),
		"command is empty, but the section has other keys; set command, or remove the section")
	for _, variable := range o.Env {
		name, _, found := strings.Cut(variable, "=")
		faults.When(!found || name == "", "env has %q; expected NAME=value", variable)
	}
	faults.When(o.ValidationExamples < 0, "validation_examples is %d; must not be negative", o.ValidationExamples)
	faults.When(o.Threads < 0, "threads is %d; must not be negative", o.Threads)
	faults.When(o.Silence < 0, "silence is %v; must not be negative", o.Silence)
	return errors.Join(faults...)
}

// String returns the command as text.
func (o Options) String() string { return strings.Join(o.Command, " ") }
