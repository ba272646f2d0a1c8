package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"graft/decider"
	"graft/simulation/learning"
)

// TreeLearningRun says where policies learn from tables, and how many. Paths here and
// in the other sections are those of the operating system, from the folder that graft
// is called in.
type TreeLearningRun struct {
	Seed       uint64        // number that the first policy follows from; the others have the numbers after it; 1 unless given
	Seeds      int           // how many policies learn, which vote together in the end, from 1 to 1,024; zero means 5
	Folder     string        // where results go; empty leaves the choice to the command
	Every      int           // steps between two rows of figures; zero means 10
	Checkpoint time.Duration // the machine's time between two checkpoints of a policy; zero means 30 s
	AtOnce     int           // how many policies learn at once, each on a thread; zero means as many as processors
	// Tensorboard is whether event files for TensorBoard are written beside the tables;
	// false writes none.
	Tensorboard bool
}

// mostSeeds is how many members a policy's file may have.
const mostSeeds = 1024

// EnsureDefaults fills in what zero stands for, but for what depends on the machine.
func (o *TreeLearningRun) EnsureDefaults() {
	o.Seeds = cmp.Or(o.Seeds, 5)
	o.Every = cmp.Or(o.Every, 10)
	o.Checkpoint = cmp.Or(o.Checkpoint, 30*time.Second)
}

// Validate lists all that is wrong.
func (o TreeLearningRun) Validate() error {
	var faults []error
	if o.Seeds < 1 || o.Seeds > mostSeeds {
		faults = append(faults, fmt.Errorf("seeds is %d; it lies between 1 and %d", o.Seeds, mostSeeds))
	}
	if o.Seed > math.MaxInt64-mostSeeds { // the last one must be a number that tables can hold
		faults = append(faults, fmt.Errorf("seed is %d; it is at most %d", o.Seed, uint64(math.MaxInt64-mostSeeds)))
	}
	if o.Every < 1 {
		faults = append(faults, fmt.Errorf("every is %d; it is at least 1", o.Every))
	}
	if o.Checkpoint < 0 {
		faults = append(faults, fmt.Errorf("checkpoint is %v; it is not negative", o.Checkpoint))
	}
	if o.AtOnce < 0 {
		faults = append(faults, fmt.Errorf("at_once is %d; it is not negative", o.AtOnce))
	}
	return errors.Join(faults...)
}

// All are the seeds of all policies.
func (o TreeLearningRun) All() []uint64 {
	all := make([]uint64, o.Seeds)
	for k := range all {
		all[k] = o.Seed + uint64(k)
	}
	return all
}

// TreeLearningTables are the tables that policies learn from.
type TreeLearningTables struct {
	Folders []string // folders of the tables to learn from, graft's or the original's; must be given, empty is none
	HeldOut []string // folders of tables to stop early by, from which nothing is learned; empty stops where the aim grows no more
}

// Validate lists all that is wrong.
func (o TreeLearningTables) Validate() error {
	if len(o.Folders) == 0 {
		return errors.New("folders are not given; name the folders of the tables to learn from")
	}
	return nil
}

// Whose defaults hold for what is not written.
const (
	ForKnown = "known" // scenarios that are those of the tables
	ForNew   = "new"   // others
)

// TreeLearningLessons say how policies learn.
type TreeLearningLessons struct {
	// For is which scenarios the policies are for, whose defaults hold for all that is
	// not written here: known ones are those of the tables, where the best sequence of
	// each is learned; for new ones noise is averaged out, and no policy is to be too
	// sure. Empty means known.
	For string `config:",one=known|new"`

	// TreeLearnOptions are all other keys of the section.
	learning.Options `config:",omit=seed,omit=structural_shape"`
}

// EnsureDefaults fills in what zero stands for.
func (o *TreeLearningLessons) EnsureDefaults() {
	o.For = cmp.Or(o.For, ForKnown)
	o.Steps = cmp.Or(o.Steps, lessonsFor(o.For).Steps)
	o.Options.EnsureDefaults()
}

// Validate lists all that is wrong.
func (o TreeLearningLessons) Validate() error {
	faults := []error{o.Options.Validate()}
	if !slices.Contains([]string{ForKnown, ForNew}, o.For) {
		faults = append(faults, fmt.Errorf("for is %q; there are %s and %s", o.For, ForKnown, ForNew))
	}
	return errors.Join(faults...)
}

// lessonsFor are the defaults for scenarios of a kind, the known ones where there is
// no such kind.
func lessonsFor(kind string) TreeLearningLessons {
	o := learning.NewOptions()
	if kind == ForNew {
		o = learning.NewTransferOptions()
	}
	o.StructuralShape = decider.StructuralShape{} // a section of its own
	return TreeLearningLessons{For: kind, Options: o}
}
