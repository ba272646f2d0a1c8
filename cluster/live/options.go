package live

import (
	"cmp"
	"errors"
	"slices"

	"graft/internal/validate"
)

// Options selects the live jobs of a trace and describes their training.
type Options struct {
	// Path of the job file that graft trains for every live job, on the virtual clock. A job's periods with devices are
	// scaled to time.budget, and replace time.devices and time.events. Empty means no live jobs.
	Job string `config:",path"`
	// IDs of the live jobs in the traces. Empty selects live.count jobs.
	Jobs []string
	// Number of live jobs per trace, evenly spread over the jobs with devices, in order of submission. Zero means the
	// jobs in live.jobs.
	Count int
	// Condition for the end of a live job. "budget" ends a job after its work in the trace. "loss" ends a job when its
	// network has the validation loss that it would have without the decider after its work in the trace. graft then
	// simulates the cluster without and with adaptation of the live jobs, and trains a job whenever its devices change.
	// "loss" needs a job file with a decider. Default "budget".
	Ends string `config:",one=budget|loss"`
	// Most work of a live job that ends by its loss, as a multiple of its work in the trace. A job that needs more ends
	// after this work. From 1 to 100. Default 2.
	MostWork float64
	// Number of trainings per live job and scheduler, with run.seed of the job file and the following seeds. If ends =
	// "loss", each further simulation of schedule.seeds trains with the next seeds. Default 1.
	Seeds int
}

// On reports whether there are live jobs.
func (o Options) On() bool { return o.Job != "" }

// Waits reports whether the cluster waits for the trainings of live jobs, because they end by their losses.
func (o Options) Waits() bool { return o.On() && o.Ends == ByLoss }

// EnsureDefaults fills unset options.
func (o *Options) EnsureDefaults() {
	if o.On() {
		o.Seeds = cmp.Or(o.Seeds, 1)
	}
	o.Ends, o.MostWork = cmp.Or(o.Ends, ByBudget), cmp.Or(o.MostWork, usualMostWork)
}

const usualMostWork = 2

// Values of the key ends.
const (
	ByBudget = "budget"
	ByLoss   = "loss"
)

// Limits of the live jobs per trace, and of the trainings per live job.
const (
	mostCount = 1000
	mostSeeds = 1000
)

// Validate returns an error that lists every invalid option.
func (o Options) Validate() error {
	var faults validate.Faults
	if !o.On() {
		faults.When(len(o.Jobs) > 0 || o.Count != 0 || o.Seeds != 0 || o.Ends == ByLoss || o.MostWork != usualMostWork,
			"job is missing, but other keys are set; set job to the path of a job file")
		return errors.Join(faults...)
	}
	faults.When(o.Count < 0, "count is %d; must not be negative", o.Count)
	faults.When(o.Count >= 0 && (len(o.Jobs) > 0) == (o.Count != 0),
		"jobs has %d IDs and count is %d; set one of them", len(o.Jobs), o.Count)
	faults.When(o.Count > mostCount || len(o.Jobs) > mostCount,
		"count is %d and jobs has %d IDs; the maximum is %d", o.Count, len(o.Jobs), mostCount)
	faults.Unless(o.Ends == ByBudget || o.Ends == ByLoss, "ends is %q; must be %q or %q", o.Ends, ByBudget, ByLoss)
	faults.Unless(o.MostWork >= 1 && o.MostWork <= 100, "most_work is %v; expected 1 to 100", o.MostWork)
	faults.When(o.Ends == ByBudget && o.MostWork != usualMostWork,
		"most_work is set, but ends is %q; remove most_work, or set ends to %q", ByBudget, ByLoss)
	faults.Unless(o.Seeds >= 0 && o.Seeds <= mostSeeds, "seeds is %d; must be from 0 to %d", o.Seeds, mostSeeds)
	for k, id := range o.Jobs {
		faults.When(slices.Contains(o.Jobs[:k], id), "jobs has the ID %q twice; list it once", id)
	}
	return errors.Join(faults...)
}

// Select returns the IDs of the live jobs among the given IDs, which are in order of submission.
func (o Options) Select(ids []string) (live []string) {
	if len(o.Jobs) > 0 {
		for _, id := range ids {
			if slices.Contains(o.Jobs, id) {
				live = append(live, id)
			}
		}
		return live
	}
	n := min(o.Count, len(ids))
	for k := range n {
		live = append(live, ids[(2*k+1)*len(ids)/(2*n)])
	}
	return live
}
