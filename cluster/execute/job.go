package execute

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"graft/cluster/node"
	"graft/internal/validate"
)

// Job is a task with its command.
type Job struct {
	node.Spec
	Command []string // program and arguments, run without a shell
	Folder  string   // working directory; empty means the working directory of this process
	Env     []string // variables as NAME=VALUE, added to the environment of this process
	// Timeout limits the running time of an attempt, not counting the time for which it is stopped; zero means no
	// limit.
	Timeout time.Duration
	// maximum number of retries after failures; zero means none; interruptions do not count
	Retries int
	Backoff time.Duration // delay before the first retry; it doubles up to 10 min; zero means 1 s
	// Checkpoint declares that the command saves its state after SIGTERM, exits with a nonzero code, and continues from
	// that state in its next run. The command can request another run at any time with exit code 75. Graft's commands
	// support checkpoints and exit code 75.
	Checkpoint bool
	// MemoryLimit limits the main memory of all processes of the task, in MiB. It is enforced only if graft can create
	// cgroups with memory limits. Zero means no limit.
	MemoryLimit float64
}

const (
	maxBackoff = 10 * time.Minute
	maxRetries = 1000
	maxLimit   = 1 << 30 // MiB
)

// EnsureDefaults replaces zero values with defaults. The default name contains the job's position in the list of jobs.
func (j *Job) EnsureDefaults(place int) {
	j.Spec.EnsureDefaults(place)
	j.Backoff = cmp.Or(j.Backoff, time.Second)
}

// Validate returns an error that lists every invalid option of the job. It makes only checks that do not depend on the
// machine.
func (j *Job) Validate() error {
	var faults validate.Faults
	faults.When(len(j.Command) == 0 || j.Command[0] == "", "command is empty; expected a program and its arguments")
	faults.When(j.Timeout < 0 || j.Backoff < 0, "timeout is %v and backoff is %v; both must be at least 0",
		j.Timeout, j.Backoff)
	faults.When(j.Retries < 0 || j.Retries > maxRetries, "retries is %d; expected 0 to %d", j.Retries, maxRetries)
	faults.Unless(j.MemoryLimit >= 0 && j.MemoryLimit <= maxLimit, "memory limit is %g; expected 0 to %d MiB",
		j.MemoryLimit, maxLimit)
	for _, texts := range [][]string{j.Command, j.Env, {j.Folder, j.Name}} {
		for _, text := range texts {
			faults.When(strings.ContainsRune(text, 0), "the string %q contains a NUL byte; remove it", text)
		}
	}
	for _, variable := range j.Env {
		name, _, found := strings.Cut(variable, "=")
		faults.When(!found || name == "", "invalid environment variable %q; expected NAME=VALUE", variable)
		faults.When(name == folderVariable || name == taskVariable,
			"environment variable %s is reserved for the executor; choose another name", name)
	}
	return errors.Join(faults.Prefixed("task " + j.Name + ": ")...)
}

// backoff returns the delay after a number of failures.
func (j *Job) backoff(failures int) time.Duration {
	wait := j.Backoff
	for ; failures > 1 && wait < maxBackoff; failures-- {
		wait *= 2
	}
	return max(j.Backoff, min(wait, maxBackoff))
}
