package learn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"graft/internal/validate"
)

// RunOptions holds the seeds and output of a run that learns policies. Paths here and in the other sections use the
// operating system's syntax and are relative to the working directory.
type RunOptions struct {
	Seed uint64 // Seed of the first policy; the other policies use the following seeds. Default 1.
	// Number of policies to learn, from 1 to 1,024. Structural policies, which are trained on tables, decide together
	// by a vote. If the policies are schedulers, all are kept, and the best one is also kept as
	// scheduler.safetensors. Zero means 5.
	Seeds int
	// Path of the run folder. Empty lets the command choose a path, such as runs/NAME for a file NAME.toml.
	Folder string `result:"none"`
	Every  int    // Interval between rows of the learning table, in steps. Zero means 10.
	// Wall-clock time between two checkpoints of a policy. Zero means 30 s.
	Checkpoint time.Duration `result:"none" config:"checkpoint_every,was=checkpoint"`
	// Number of policies that learn in parallel, with one thread each. Zero means one per processor.
	Workers int `config:",was=at_once" result:"none"`
	// Writes TensorBoard event files in addition to the run folder's tables. Default false.
	Tensorboard bool `result:"none"`
}

// mostSeeds limits the number of members in a policy's file.
const mostSeeds = 1024

// EnsureDefaults fills in defaults, except for defaults that depend on the machine.
func (o *RunOptions) EnsureDefaults() {
	o.Seeds = cmp.Or(o.Seeds, 5)
	o.Every = cmp.Or(o.Every, 10)
	o.Checkpoint = cmp.Or(o.Checkpoint, 30*time.Second)
}

// Validate returns an error that lists every invalid option.
func (o RunOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Seeds < 1 || o.Seeds > mostSeeds, "seeds is %d; must be between 1 and %d", o.Seeds, mostSeeds)
	if o.Seed > math.MaxInt64-mostSeeds { // tables must be able to hold the last seed
		faults = append(faults, fmt.Errorf("seed is %d; must be at most %d", o.Seed, uint64(math.MaxInt64-mostSeeds)))
	}
	faults.When(o.Every < 1, "every: got %d; must be at least 1", o.Every)
	faults.When(o.Checkpoint < 0, "checkpoint_every is %v; must not be negative", o.Checkpoint)
	faults.When(o.Workers < 0, "workers is %d; must not be negative", o.Workers)
	return errors.Join(faults...)
}

// All returns the seeds of all policies.
func (o RunOptions) All() []uint64 {
	all := make([]uint64, o.Seeds)
	for k := range all {
		all[k] = o.Seed + uint64(k)
	}
	return all
}
