package learn

import (
	"fmt"
	"math"
	"time"

	shared "graft/learn"
	"graft/original/learn"
	"graft/results"
	"graft/results/tensorboard"
	"graft/simulation/learning"
	"graft/work"
)

// curves show learning in TensorBoard. Nil shows nothing.
type curves struct {
	*work.EventCurves
	greedy string // likeliest sequence that was written last
}

func openCurves(now func() time.Time, run *results.Run, next int64, resolved string) (*curves, error) {
	events, err := work.OpenEventCurves(now, run, next, resolved)
	return &curves{EventCurves: events}, err
}

// study adds figures of a policy of the original's, at its episodes.
func (c *curves) study(r learn.Row, greedy string) error {
	if c == nil {
		return nil
	}
	step := int64(r.Episodes)
	err := c.Scalars(step, work.Scalar("objective", r.Objective), work.Scalar("accuracy/episodes", r.Accuracy), work.Scalar("accuracy/expected", r.Expected),
		work.Scalar("temperature", r.Temperature), work.Scalar("learning_rate", r.Rate))
	if err != nil || greedy == c.greedy {
		return err
	}
	c.greedy = greedy
	return c.Text(step, "likeliest_sequence", "`"+greedy+"`")
}

// scheduler adds figures of a seed of schedulers, at its steps.
func (c *curves) scheduler(r shared.Row, names []string) error {
	if c == nil {
		return nil
	}
	var figures []tensorboard.Scalar
	for k, name := range names {
		if v := r.Values[k]; !math.IsNaN(v) {
			figures = append(figures, work.Scalar(fmt.Sprintf("%s/seed-%d", name, r.Seed), v))
		}
	}
	return c.Scalars(int64(r.Step), figures...)
}

// tree adds figures of a seed of structural policies, at its steps.
func (c *curves) tree(r learning.Row) error {
	if c == nil {
		return nil
	}
	of := func(what string, value float64) tensorboard.Scalar {
		return work.Scalar(fmt.Sprintf("%s/seed-%d", what, r.Seed), value)
	}
	figures := []tensorboard.Scalar{of("aim", r.Aim), of("entropy_nats", r.Entropy), of("regret_points", r.Regret)}
	if !math.IsNaN(r.HeldOut) {
		figures = append(figures, of("held_out", r.HeldOut))
	}
	return c.Scalars(int64(r.Step), figures...)
}
