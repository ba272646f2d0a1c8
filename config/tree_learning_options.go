package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"graft/decider"
	"graft/internal/validate"
	"graft/report/document"
	"graft/simulation/learning"
)

// TreeLearningRun holds the seeds and output of policies that learn from tables. Paths
// here and in the other sections are those of the operating system, relative to the
// working directory.
type TreeLearningRun struct {
	Seed uint64 // seed of the first policy; the others have the seeds after it; default 1
	// policies that learn, from 1 to 1,024; those of tables vote together in the end, of schedulers the
	// best is kept; zero means 5
	Seeds      int
	Folder     string        `result:"none"` // path of the run folder; empty lets the command choose
	Every      int           // steps between two rows of the table; zero means 10
	Checkpoint time.Duration `result:"none"` // wall-clock time between two checkpoints of a policy; zero means 30 s
	// policies that learn in parallel, each on a thread; zero means one for each processor
	Workers int `result:"none"`
	// Tensorboard is whether event files for TensorBoard are written beside the tables;
	// false writes none.
	Tensorboard bool `result:"none"`
}

// mostSeeds limits the number of members in a policy's file.
const mostSeeds = 1024

// EnsureDefaults fills in what zero stands for, except for what depends on the machine.
func (o *TreeLearningRun) EnsureDefaults() {
	o.Seeds = cmp.Or(o.Seeds, 5)
	o.Every = cmp.Or(o.Every, 10)
	o.Checkpoint = cmp.Or(o.Checkpoint, 30*time.Second)
}

// Validate joins all that is wrong.
func (o TreeLearningRun) Validate() error {
	var faults validate.Faults
	faults.When(o.Seeds < 1 || o.Seeds > mostSeeds, "seeds is %d; must be between 1 and %d", o.Seeds, mostSeeds)
	if o.Seed > math.MaxInt64-mostSeeds { // the last one must be a number that tables can hold
		faults = append(faults, fmt.Errorf("seed is %d; must be at most %d", o.Seed, uint64(math.MaxInt64-mostSeeds)))
	}
	faults.When(o.Every < 1, "every is %d; must be at least 1", o.Every)
	faults.When(o.Checkpoint < 0, "checkpoint is %v; must not be negative", o.Checkpoint)
	faults.When(o.Workers < 0, "workers is %d; must not be negative", o.Workers)
	return errors.Join(faults...)
}

// All lists the seeds of all policies.
func (o TreeLearningRun) All() []uint64 {
	all := make([]uint64, o.Seeds)
	for k := range all {
		all[k] = o.Seed + uint64(k)
	}
	return all
}

// TreeLearningTables name the tables that policies learn from.
type TreeLearningTables struct {
	Folders []string `result:"contents"` // folders of the training tables, graft's or the original's; required
	// folders of validation tables, for early stopping; empty stops where the training objective stops improving
	HeldOut []string `result:"contents"`
}

// Validate joins all that is wrong.
func (o TreeLearningTables) Validate() error {
	if len(o.Folders) == 0 {
		return errors.New("folders are missing; name the folders of the tables to learn from")
	}
	return nil
}

// The scenarios that policies are for, which decide their defaults.
const (
	ForKnown = "known" // the scenarios of the tables
	ForNew   = "new"   // other scenarios
)

// TreeLearningOptions say how policies learn.
type TreeLearningOptions struct {
	// For selects the defaults of the keys of this section: known learns the best sequence
	// of each scenario of the tables; new averages noise out and keeps policies from being
	// too certain, for scenarios that have no table. Empty means known.
	For string `config:",one=known|new"`

	// TreeLearnOptions are all other keys of the section.
	learning.Options `config:",omit=seed,omit=structural_shape"`
}

// EnsureDefaults fills in what zero stands for.
func (o *TreeLearningOptions) EnsureDefaults() {
	o.For = cmp.Or(o.For, ForKnown)
	o.Steps = cmp.Or(o.Steps, learningOptionsFor(o.For).Steps)
	o.Options.EnsureDefaults()
}

// Validate joins all that is wrong.
func (o TreeLearningOptions) Validate() error {
	faults := validate.Faults{o.Options.Validate()}
	faults.Unless(slices.Contains([]string{ForKnown, ForNew}, o.For),
		"for is %q; must be %s or %s", o.For, ForKnown, ForNew)
	return errors.Join(faults...)
}

// effort says how long policies learn.
func (o TreeLearningOptions) effort() string {
	if o.Method == learning.Forest {
		return document.Plural(o.Trees, "regression tree") + " each"
	}
	return document.Plural(o.Steps, "step") + " at most"
}

// learningOptionsFor returns the defaults for known or new scenarios; known for another kind.
func learningOptionsFor(kind string) TreeLearningOptions {
	o := learning.NewOptions()
	if kind == ForNew {
		o = learning.NewTransferOptions()
	}
	o.StructuralShape = decider.StructuralShape{} // a section of its own
	return TreeLearningOptions{For: kind, Options: o}
}
