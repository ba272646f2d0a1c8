package learn

import (
	"fmt"
	"math"
	"time"

	shared "graft/learn"
	"graft/original/learn"
	"graft/results"
	"graft/results/tensorboard"
	"graft/runner/app"
	"graft/simulation/learning"
)

// curves shows learning in TensorBoard. Nil shows nothing.
type curves struct {
	*app.EventCurves
	greedy string // last written most likely sequence
}

func openCurves(now func() time.Time, run *results.Run, next int64, resolved string) (*curves, error) {
	events, err := app.OpenEventCurves(now, run, next, resolved)
	return &curves{EventCurves: events}, err
}

// study adds metrics of a policy of the original system, by episode.
func (c *curves) study(r learn.Row, greedy string) error {
	if c == nil {
		return nil
	}
	step := int64(r.Episodes)
	err := c.Scalars(step, app.Scalar("objective", r.Objective), app.Scalar("accuracy/episodes", r.Accuracy),
		app.Scalar("accuracy/expected", r.Expected), app.Scalar("temperature", r.Temperature),
		app.Scalar("learning_rate", r.Rate))
	if err != nil || greedy == c.greedy {
		return err
	}
	c.greedy = greedy
	return c.Text(step, "likeliest_sequence", "`"+greedy+"`")
}

// scheduler adds metrics of a seed of schedulers, by step.
func (c *curves) scheduler(r shared.Row, names []string) error {
	if c == nil {
		return nil
	}
	var figures []tensorboard.Scalar
	for k, name := range names {
		if v := r.Values[k]; !math.IsNaN(v) {
			figures = append(figures, app.Scalar(fmt.Sprintf("%s/seed-%d", name, r.Seed), v))
		}
	}
	return c.Scalars(int64(r.Step), figures...)
}

// tree adds metrics of a seed of structural policies, by step.
func (c *curves) tree(r learning.Row) error {
	if c == nil {
		return nil
	}
	of := func(what string, value float64) tensorboard.Scalar {
		return app.Scalar(fmt.Sprintf("%s/seed-%d", what, r.Seed), value)
	}
	figures := []tensorboard.Scalar{of("aim", r.Aim), of("entropy_nats", r.Entropy), of("regret_points", r.Regret)}
	if !math.IsNaN(r.HeldOut) {
		figures = append(figures, of("held_out", r.HeldOut))
	}
	return c.Scalars(int64(r.Step), figures...)
}
