package trainer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"graft/dataset"
	"graft/decider"
	"graft/torch"
)

// MeasureOptions say how a device is measured. EnsureDefaults fills in what zero
// stands for.
type MeasureOptions struct {
	Device  torch.Device  // that is measured; zero is the CPU
	Batches []int         // examples in a step and in a batch of evaluation; nil means 64 and 128, which are a job's own
	Rounds  int           // in each of which every network has its turn; zero means 7
	Burst   time.Duration // how long a network works in one turn, about; zero means 40 ms
	Exact   bool          // as a job's
	Steady  bool          // as a job's
	// Optimizer is the one that steps are measured with; a rule of zero means Adam.
	// Its rate does not matter.
	Optimizer torch.OptimizerOptions
	Adapt     Adapt           // how operations are done whose time is measured
	Decider   decider.Decider // whose decisions are measured; nil means decider.Random
	// Now is the machine's clock; required.
	Now func() time.Time
	// Tell is called when something has been done, of which so much is all. Nil
	// tells nobody.
	Tell func(what string, done, of int)
}

// EnsureDefaults fills in what zero stands for.
func (o *MeasureOptions) EnsureDefaults() {
	if o.Batches == nil {
		o.Batches = []int{64, 128}
	}
	if o.Rounds == 0 {
		o.Rounds = 7
	}
	if o.Burst == 0 {
		o.Burst = 40 * time.Millisecond
	}
	if o.Optimizer.Rule == 0 {
		o.Optimizer.Rule = torch.Adam
	}
	o.Optimizer.LR = 1e-4 // random labels teach nothing, and must not blow weights up
	if o.Decider == nil {
		o.Decider = decider.Random{}
	}
	if o.Tell == nil {
		o.Tell = func(string, int, int) {}
	}
}

// mostRows bounds a batch, far above what a step is ever made of.
const mostRows = 1 << 16

// Validate lists all that is wrong.
func (o MeasureOptions) Validate() error {
	var faults []error
	for k, n := range o.Batches {
		if n < 1 || n > mostRows {
			faults = append(faults, fmt.Errorf("a batch of %d; it has from 1 to %d examples", n, mostRows))
		} else if slices.Contains(o.Batches[:k], n) {
			faults = append(faults, fmt.Errorf("a batch of %d twice; once is enough", n))
		}
	}
	if o.Rounds < 0 || o.Burst < 0 {
		faults = append(faults, fmt.Errorf("%d rounds of %v; both are above zero", o.Rounds, o.Burst))
	}
	if o.Now == nil {
		faults = append(faults, errors.New("to measure takes the machine's clock"))
	}
	return errors.Join(faults...)
}

// Measured is what was measured of a device.
type Measured struct {
	Networks []Measurement // a network and a batch each
	Decision Seconds       // of a decision
	Surgery  Seconds       // of an operation, with its calibration and the optimizer that follows; all kinds count alike
}

// Seconds is a time and how far it spreads.
type Seconds struct {
	Median float64
	Spread float64 // half the distance between the quartiles
}

// Profile is the profile of what was measured, with rates fitted to it.
func (m *Measured) Profile(name, device string, made Made) *Profile {
	p := &Profile{Version: profileVersion, Name: name, Device: device, Made: made, Measured: m.Networks}
	p.Costs.DecisionSeconds, p.Costs.DecisionSpread = digits(m.Decision.Median), digits(m.Decision.Spread)
	p.Costs.SurgerySeconds, p.Costs.SurgerySpread = digits(m.Surgery.Median), digits(m.Surgery.Spread)
	p.Refit()
	return p
}

// Measure lets networks work on a device as jobs let them: the same programs, called
// in the same way, on images that are random. All are warmed up, and then take turns
// in rounds, so that a machine whose speed drifts slows all alike.
func Measure(ctx context.Context, subjects []Subject, o MeasureOptions) (*Measured, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("measure: %w", err)
	}
	if len(subjects) == 0 {
		return nil, errors.New("measure: there is no network")
	}
	var m *Measured
	err := torch.With(func(s *torch.Scope) error {
		h := &hall{MeasureOptions: o, scope: s, images: map[string]*dataset.Set{}}
		defer h.close()
		if err := h.furnish(ctx, subjects); err != nil {
			return err
		}
		var err error
		m, err = h.measure(ctx)
		return err
	})
	return m, err
}
