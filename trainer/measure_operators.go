package trainer

import (
	"context"
	"errors"
	"fmt"

	"graft/dataset"
	"graft/torch"
	"graft/trainer/clock"
	"graft/trainer/operators"
	"graft/trainer/probes"
)

// MeasureOperators measures the operators of training steps and of evaluations on the CPU, in small networks. It
// measures one network after another, in bursts of steps, as jobs run them, and repeats this o.Rounds times, so that a
// slow phase of the machine does not affect the same networks every time. It does not use the batch sizes, the decider
// and the surgery options of MeasureOptions.
func MeasureOperators(ctx context.Context, all []probes.Probe, o MeasureOptions) (*operators.Device, error) {
	o.Batches = nil
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("measure operators: %w", err)
	}
	if o.Device != torch.CPU {
		return nil, errors.New("measure operators: only the CPU can be measured; import a trace for a CUDA device")
	}
	path := operators.Fast
	if o.Exact {
		path = operators.Exact
	}
	recorder := operators.NewRecorder(path)
	for k := range o.Rounds * len(all) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p := all[k%len(all)]
		if err := o.probe(p, recorder); err != nil {
			return nil, fmt.Errorf("measure operators of network %d, a batch of %d: %w", k%len(all)+1, p.Rows, err)
		}
		o.Tell("operators", k+1, o.Rounds*len(all))
	}
	return recorder.Device(), nil
}

// probe measures a network.
func (o *MeasureOptions) probe(p probes.Probe, to *operators.Recorder) error {
	return torch.With(func(s *torch.Scope) error {
		one := *o
		one.Batches = []int{p.Rows}
		m := &measuring{MeasureOptions: one, scope: s, images: map[string]*dataset.Set{}, longest: longest}
		defer m.close()
		c, err := m.candidate(clock.Subject{Name: "probe", Network: p.Network})
		if err != nil {
			return err
		}
		b := &burst{batch: p.Rows, steps: 1, batches: 1, data: c.job.Data}
		if err := m.warm(c, b); err != nil {
			return err
		}
		b.steps = max(b.steps, leastTimed)
		var steps, evaluations []torch.StepTimes
		time := func(training bool, t []torch.StepTimes) {
			if training {
				steps = append(steps, t...)
			} else {
				evaluations = append(evaluations, t...)
			}
		}
		for _, c.job.timed = range []func(bool, []torch.StepTimes){time, nil} {
			if err := m.fill(c, b); err != nil {
				return err
			}
		}
		return to.Add(p.Network, p.Rows, steps, evaluations,
			operators.Whole{Step: c.meter.latest(clock.Steps), Evaluation: c.meter.latest(clock.Batches)})
	})
}

// leastTimed is the minimum number of steps in a burst that is timed by operator.
const leastTimed = 2
