package trainer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"graft/dataset"
	"graft/decider"
	"graft/internal/validate"
	"graft/torch"
	"graft/trainer/clock"
)

// MeasureOptions configures [Measure].
type MeasureOptions struct {
	Device torch.Device // device to measure; zero means the CPU
	// numbers of examples per step and per evaluation batch; nil means 64 and 128, a job's defaults
	Batches []int
	Rounds  int           // number of rounds; every network has one turn per round; zero means 7
	Burst   time.Duration // approximate wall-clock time of a turn; zero means 40 ms
	Exact   bool          // whether PyTorch's order of operations is kept, as with Options.Exact
	// whether results are bit-identical for any number of threads, as with Options.Steady
	Steady bool
	// number format of convolutions and linear layers, as with Options.Precision; zero means float32
	Precision torch.Precision
	// Optimizer is the optimizer of the measured steps. If it has no rule, Adam is used. The learning rate has no
	// effect on the times.
	Optimizer torch.OptimizerOptions
	Adapt     Adapt           // options for the measured surgery
	Decider   decider.Decider // decider of the measured decisions; nil means decider.Random
	// Quiet is the time in seconds of a reference network's step on a quiet machine, which MeasureOperators returns.
	// Each measured time is divided by the slowdown of the reference around it. Zero does not divide.
	Quiet float64
	// Now reads the wall clock; required.
	Now func() time.Time
	// Tell reports progress: what was measured last, the number of items done and their total. Nil disables the
	// callback.
	Tell func(what string, done, of int)
}

// EnsureDefaults fills unset options.
func (o *MeasureOptions) EnsureDefaults() {
	if o.Batches == nil {
		o.Batches = []int{64, 128}
	}
	o.Rounds, o.Burst = cmp.Or(o.Rounds, 7), cmp.Or(o.Burst, 40*time.Millisecond)
	o.Optimizer.Rule = cmp.Or(o.Optimizer.Rule, torch.Adam)
	o.Optimizer.LR = 1e-4 // small, so that training on random labels does not diverge
	if o.Decider == nil {
		o.Decider = decider.Random{}
	}
	if o.Tell == nil {
		o.Tell = func(string, int, int) {}
	}
}

// Validate returns an error that lists every invalid option.
func (o MeasureOptions) Validate() error {
	var faults validate.Faults
	for k, n := range o.Batches {
		if n < 1 || n > clock.MostRows {
			faults = append(faults, fmt.Errorf("batch is %d; must be between 1 and %d examples", n, clock.MostRows))
		} else if slices.Contains(o.Batches[:k], n) {
			faults = append(faults, fmt.Errorf("duplicate batch size %d; list each batch size once", n))
		}
	}
	faults.When(o.Rounds < 0 || o.Burst < 0, "rounds is %d and burst is %v; must not be negative", o.Rounds, o.Burst)
	faults.When(!(o.Quiet >= 0), "Quiet is %v; must not be negative", o.Quiet)
	faults.When(o.Now == nil, "Now is nil; set it to a function that returns the current time")
	return errors.Join(faults...)
}

// Measure times networks on a device in the way that jobs run them: with the same programs and the same calls, on
// random images. It first warms up all networks. Then all networks run in turn in several rounds, so a drift of the
// machine's speed affects all networks equally.
func Measure(ctx context.Context, subjects []clock.Subject, o MeasureOptions) (*clock.Measured, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("measure: %w", err)
	}
	if len(subjects) == 0 {
		return nil, errors.New("measure: no networks given; expected at least one")
	}
	var m *clock.Measured
	err := torch.With(func(s *torch.Scope) error {
		run := &measuring{MeasureOptions: o, scope: s, images: map[string]*dataset.Set{}, longest: longest}
		defer run.close()
		if err := run.prepare(ctx, subjects); err != nil {
			return err
		}
		var err error
		m, err = run.measure(ctx)
		return err
	})
	return m, err
}
