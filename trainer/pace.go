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

// Pace is the time that a network's work takes on a device.
type Pace struct {
	Step  time.Duration // a training step
	Batch time.Duration // an evaluation batch
}

// Limits of a quick measurement.
const (
	paceRounds = 3
	paceSteps  = 8                      // steps per round
	paceTime   = 300 * time.Millisecond // no further round begins after it
)

// Paces makes a quick measurement of one training step and one evaluation batch of each network, for an estimate before
// a job starts. Measure is more accurate. The first of o.Batches is the training batch; the last is the evaluation
// batch.
func Paces(ctx context.Context, networks []*model.Network, o MeasureOptions) ([]Pace, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("measure: %w", err)
	}
	paces := make([]Pace, len(networks))
	err := torch.With(func(s *torch.Scope) error {
		run := &measuring{MeasureOptions: o, scope: s, images: map[string]*dataset.Set{}, longest: paceSteps}
		defer run.close()
		for k, n := range networks {
			if err := run.pace(ctx, n, &paces[k]); err != nil {
				return fmt.Errorf("measure %s: %w", n.Name(), err)
			}
		}
		return nil
	})
	return paces, err
}

func (m *measuring) pace(ctx context.Context, n *model.Network, p *Pace) error {
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
	for range paceRounds {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := m.fill(c, b); err != nil {
			return 0, err
		}
		took = append(took, c.meter.latest(kind))
		if m.Now().Sub(began) > paceTime {
			break
		}
	}
	slices.Sort(took)
	return time.Duration(took[len(took)/2] * float64(time.Second)), nil
}
