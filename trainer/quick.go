package trainer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"graft/dataset"
	"graft/model"
	"graft/torch"
	"graft/trainer/clock"
)

// QuickTimes holds the times of a network that MeasureQuickly measures on a device.
type QuickTimes struct {
	Step  time.Duration // a training step
	Batch time.Duration // an evaluation batch
}

// Limits of a quick measurement.
const (
	quickRounds = 3
	quickSteps  = 8                      // steps per round
	quickTime   = 300 * time.Millisecond // no further round begins after it
)

// MeasureQuickly times one training step and one evaluation batch of each network, for an estimate before a job starts.
// Measure is slower and more accurate. The first of the options' batch sizes is used for training and the last for
// evaluation.
func MeasureQuickly(ctx context.Context, networks []*model.Network, o MeasureOptions) ([]QuickTimes, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("measure: %w", err)
	}
	times := make([]QuickTimes, len(networks))
	err := torch.With(func(s *torch.Scope) error {
		run := &measuring{MeasureOptions: o, scope: s, images: map[string]*dataset.Set{}, longest: quickSteps}
		defer run.close()
		for k, n := range networks {
			if err := run.quick(ctx, n, &times[k]); err != nil {
				return fmt.Errorf("measure %s: %w", n.Name(), err)
			}
		}
		return nil
	})
	return times, err
}

func (m *measuring) quick(ctx context.Context, n *model.Network, p *QuickTimes) error {
	c, err := m.candidate(clock.Subject{Name: n.Name(), Network: n})
	if err != nil {
		return err
	}
	step := &burst{batch: m.Batches[0], steps: 1, data: c.job.Data}
	if p.Step, err = m.brief(ctx, c, step, clock.Steps); err != nil {
		return err
	}
	batch := &burst{batch: m.Batches[len(m.Batches)-1], batches: 1, data: c.job.Data}
	p.Batch, err = m.brief(ctx, c, batch, clock.Batches)
	return err
}

// brief is the median time of some bursts.
func (m *measuring) brief(ctx context.Context, c *candidate, b *burst, kind clock.Kind) (time.Duration, error) {
	if err := m.warm(c, b); err != nil {
		return 0, err
	}
	began := m.Now()
	var took []float64
	for range quickRounds {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := m.fill(c, b); err != nil {
			return 0, err
		}
		took = append(took, c.meter.latest(kind))
		if m.Now().Sub(began) > quickTime {
			break
		}
	}
	slices.Sort(took)
	return time.Duration(took[len(took)/2] * float64(time.Second)), nil
}
