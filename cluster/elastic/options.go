package elastic

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"graft/cluster"
	"graft/internal/validate"
)

// Largest values of options.
const (
	maxNodes    = 1 << 20
	maxCapacity = 1 << 20
	maxTasks    = 1 << 10
)

// Options holds the options of a simulation. The zero value is a cluster with 96 nodes.
type Options struct {
	Nodes   int       // number of nodes; zero means 96
	PerNode Resources // slots of each kind per node; all zero means 8 CPU and 8 GPU slots
	// maximum number of workers per job, and of parameter servers per job; zero means 16
	Most  int
	Slot  float64 // slot length in seconds; zero means 1200
	Limit int     // maximum number of slots; a longer simulation fails; zero means no limit
	// AllReduce removes parameter servers: workers exchange gradients directly.
	AllReduce bool
	// Scaling names the model of the time that a job loses when its number of tasks changes. Empty means "checkpoint".
	Scaling string
	// maximum relative error of speeds, drawn uniformly from ± this value per job and slot, in [0, 1); zero
	// means no error
	SpeedError float64
	Seed       uint64         // seed of the draws of SpeedError; zero is a valid seed
	Reward     Reward         // kind of the reward of a slot; zero means Progress
	WholeSlots bool           // rounds completion times up to the end of the slot
	Quirks     cluster.Quirks // faults of the original simulator to keep; nil keeps none
}

// Reward selects the formula for the reward of a slot.
type Reward int

const (
	// Progress rewards the fraction of estimated epochs that jobs complete in the slot, summed over jobs.
	Progress Reward = iota
	// Unfinished rewards the number of unfinished jobs, like the original simulator.
	Unfinished
)

// EnsureDefaults fills unset options.
func (o *Options) EnsureDefaults() {
	o.Nodes, o.Most = cmp.Or(o.Nodes, 96), cmp.Or(o.Most, 16)
	o.PerNode = cmp.Or(o.PerNode, Resources{CPU: 8, GPU: 8})
	o.Slot, o.Scaling = cmp.Or(o.Slot, 1200), cmp.Or(o.Scaling, CheckpointRestart)
}

// Validate returns an error that lists every invalid option.
func (o *Options) Validate() error {
	var faults validate.Faults
	for _, r := range []struct {
		what          string
		value         int
		least, atMost int
	}{
		{"number of nodes", o.Nodes, 1, maxNodes},
		{"number of CPU slots per node", o.PerNode[CPU], 0, maxCapacity},
		{"number of GPU slots per node", o.PerNode[GPU], 0, maxCapacity},
		{"maximum number of workers per job", o.Most, 1, maxTasks},
	} {
		faults.When(r.value < r.least || r.value > r.atMost, "the %s is %d; expected %d to %d", r.what, r.value,
			r.least, r.atMost)
	}
	faults.Unless(o.Slot > 0 && o.Slot <= maxSlotSeconds,
		"the slot length is %g s; expected more than 0 and at most %g", o.Slot, float64(maxSlotSeconds))
	faults.When(!(o.SpeedError >= 0 && o.SpeedError < 1),
		"the relative speed error is %g; expected at least 0 and less than 1", o.SpeedError)
	return errors.Join(append(faults, o.validateNames()...)...)
}

const maxSlotSeconds = 1e9

func (o *Options) validateNames() (faults validate.Faults) {
	faults.When(o.Limit < 0, "the limit is %d slots; expected at least 0 (0 means no limit)", o.Limit)
	faults.When(o.Reward != Progress && o.Reward != Unfinished, "unknown reward %d; expected Progress or Unfinished",
		o.Reward)
	if _, err := ScalingNamed(o.Scaling); err != nil {
		faults = append(faults, err)
	}
	if unknown := unknownQuirks(o.Quirks); len(unknown) > 0 {
		faults = append(faults, fmt.Errorf("unknown quirks %s; expected any of %s", strings.Join(unknown, ", "),
			strings.Join(cluster.QuirksOf(Quirks()), ", ")))
	}
	return faults
}

// total returns the resources of the cluster.
func (o *Options) total() Resources { return o.PerNode.Times(o.Nodes) }

// mostEstimated returns the number of workers or servers up to which speeds must be known: the original Optimus
// requests one more than a job may have.
func (o *Options) mostEstimated() int {
	if o.Quirks.Keeps(NoCost) {
		return o.Most + 1
	}
	return o.Most
}
