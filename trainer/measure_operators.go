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

// MeasuredOperators holds the operators of a device.
type MeasuredOperators struct {
	Device *operators.Device
	// Disturbed is the number of small networks that were measured only while other programs slowed the machine down.
	Disturbed int
	// Quiet is the time in seconds of a step of the reference network on a quiet machine, to which the slowdown is
	// relative.
	Quiet float64
}

// MeasureOperators measures the operators of training steps and of evaluations on the CPU, in small networks. It
// measures one network after another, in bursts of steps, as jobs run them, and repeats this o.Rounds times, so that a
// slow phase of the machine does not affect the same networks every time. Networks that were disturbed in every round
// are measured in up to o.Rounds further rounds. All times are divided by the slowdown of a reference network that is
// measured before and after. MeasureOperators does not use the batch sizes, the decider and the surgery options of
// MeasureOptions.
func MeasureOperators(ctx context.Context, all []probes.Probe, o MeasureOptions) (*MeasuredOperators, error) {
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
	measured := &MeasuredOperators{}
	err := torch.With(func(s *torch.Scope) error {
		w, err := NewWatch(s, len(all), o)
		if err != nil {
			return err
		}
		defer w.Close()
		err = o.operatorRounds(ctx, all, w, recorder)
		measured.Quiet, measured.Disturbed = w.quiet(), len(w.disturbed())
		measured.Device = recorder.Device(measured.Quiet)
		return err
	})
	if err != nil {
		return nil, err
	}
	return measured, nil
}

// operatorRounds measures all networks in rounds, and then the disturbed ones again.
func (o *MeasureOptions) operatorRounds(ctx context.Context, all []probes.Probe, w *Watch,
	to *operators.Recorder) error {
	every := make([]int, len(all))
	for k := range every {
		every[k] = k
	}
	for round := range 2 * o.Rounds {
		what, networks := "operators", every
		if round >= o.Rounds {
			what, networks = "operators of networks that other programs disturbed", w.disturbed()
		}
		for i, k := range networks {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := o.record(k, all[k], w, to); err != nil {
				return fmt.Errorf("measure operators of network %d, a batch of %d: %w", k+1, all[k].Rows, err)
			}
			done, of := i+1, len(networks)
			if round < o.Rounds {
				done, of = done+round*len(all), of*o.Rounds
			}
			o.Tell(what, done, of)
		}
	}
	return nil
}

// operatorTimes holds the times of a network's operators in training steps and in evaluations.
type operatorTimes struct {
	steps, evaluations []torch.StepTimes
	whole              operators.Whole
}

// turnBursts is the number of measurements of a network in its turn. They take less time than making the network.
const turnBursts = 2

// record measures network k several times, each time between two measurements of the reference.
func (o *MeasureOptions) record(k int, p probes.Probe, w *Watch, to *operators.Recorder) error {
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
		for range turnBursts {
			var t operatorTimes
			reference, err := w.Measure(k, func() (err error) {
				t, err = m.operators(c, b)
				return err
			})
			if err != nil {
				return err
			}
			t.whole.Reference = reference
			if err := to.Add(p.Network, p.Rows, t.steps, t.evaluations, t.whole); err != nil {
				return err
			}
		}
		return nil
	})
}

// operators measures the operators of a network in a burst, and whole steps in another burst.
func (m *measuring) operators(c *candidate, b *burst) (t operatorTimes, err error) {
	time := func(training bool, all []torch.StepTimes) {
		if training {
			t.steps = append(t.steps, all...)
		} else {
			t.evaluations = append(t.evaluations, all...)
		}
	}
	for _, c.job.timed = range []func(bool, []torch.StepTimes){time, nil} {
		if err := m.fill(c, b); err != nil {
			return t, err
		}
	}
	t.whole = operators.Whole{Step: c.meter.latest(clock.Steps), Evaluation: c.meter.latest(clock.Batches)}
	return t, nil
}

// leastTimed is the minimum number of steps in a burst that is timed by operator.
const leastTimed = 2
