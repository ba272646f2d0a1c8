package curves

import (
	"cmp"
	"errors"
	"math"

	"graft/cluster/trace"
	"graft/internal/validate"
)

// Options describes jobs whose networks grow. Their accuracies come from learning curves; no network is trained.
type Options struct {
	// Path of a file of learning curves, which 'graft cluster curves' writes. Each job draws one of the curves. Empty
	// means that the networks of jobs are not considered.
	Curves          string `config:",path"`
	trace.Selection        // jobs whose networks can grow
	// Condition for the end of a job. "budget" ends a job after its work in the trace. "accuracy" ends a job when its
	// network has the accuracy that it would have without growth after its work in the trace. Default "budget".
	Ends string `config:",one=budget|accuracy"`
	// Knowledge with which a job decides whether its network grows. "typical" means the job's own curve without growth,
	// and the median effect of growth over all curves. "own" adds the effect of growth in the job's own curve; this is
	// an oracle. Default "typical".
	Knowledge string `config:",one=typical|own"`
	// Most work of a job that ends by accuracy, as a multiple of its work in the trace. A job that does not reach its
	// accuracy ends after this work. Default 2.
	MostWork float64
	// Batch size at which doubling the batch of a job makes each example half as useful (the gradient noise scale of
	// McCandlish et al., An empirical model of large-batch training, 2018), in batches on the requested devices. With
	// it, schedulers that ask for offers can give a job more devices than it requests. Zero means that jobs never use
	// more devices than they request.
	NoiseScale float64
}

// Values of the keys ends and knowledge.
const (
	ByBudget         = "budget"
	ByAccuracy       = "accuracy"
	TypicalKnowledge = "typical"
	OwnKnowledge     = "own"
)

// On reports whether the networks of jobs are considered.
func (o Options) On() bool { return o.Curves != "" }

// EnsureDefaults fills unset options.
func (o *Options) EnsureDefaults() {
	if o.On() {
		o.Selection.EnsureDefaults()
	}
	o.Ends, o.Knowledge = cmp.Or(o.Ends, ByBudget), cmp.Or(o.Knowledge, TypicalKnowledge)
	o.MostWork = cmp.Or(o.MostWork, usualMostWork)
}

const usualMostWork = 2

// Validate returns an error that lists every invalid option.
func (o Options) Validate() error {
	var faults validate.Faults
	if !o.On() {
		faults.When(len(o.Shares) > 0 || o.Ends == ByAccuracy || o.Knowledge == OwnKnowledge ||
			o.MostWork != usualMostWork || o.NoiseScale != 0 || o.Selects(),
			"curves is missing; set it to a file of 'graft cluster curves', or remove the other keys")
		return errors.Join(faults...)
	}
	if err := o.Selection.Validate(); err != nil {
		faults = append(faults, err)
	}
	faults.Unless(o.Ends == ByBudget || o.Ends == ByAccuracy, "ends is %q; must be %q or %q", o.Ends, ByBudget,
		ByAccuracy)
	faults.Unless(o.Knowledge == TypicalKnowledge || o.Knowledge == OwnKnowledge,
		"knowledge is %q; must be %q or %q", o.Knowledge, TypicalKnowledge, OwnKnowledge)
	faults.Unless(o.MostWork >= 1 && o.MostWork <= 100, "most_work is %v; expected 1 to 100", o.MostWork)
	faults.When(o.Ends == ByBudget && o.MostWork != usualMostWork,
		"most_work is set, but ends is %q; remove most_work, or set ends to %q", ByBudget, ByAccuracy)
	faults.Unless(o.NoiseScale >= 0 && !math.IsInf(o.NoiseScale, 1), "noise_scale is %v; expected a finite number of "+
		"at least 0", o.NoiseScale)
	return errors.Join(faults...)
}
