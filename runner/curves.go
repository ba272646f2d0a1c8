package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"graft/original/learn"
	"graft/results"
	"graft/results/tensorboard"
	"graft/simulation/learning"
	"graft/trainer"
)

// boardFlag adds the flag that writes for TensorBoard.
func boardFlag(command *cobra.Command, on *bool) {
	command.Flags().BoolVar(on, "tensorboard", false, "write event files for TensorBoard into the run folder, as run.tensorboard = true does")
}

// curves are what a run shows in TensorBoard. Nil shows nothing.
type curves struct {
	events *results.Events
	last   trainer.Row // of a job, that was written
	greedy string      // of a policy, that was written
}

// openCurves begins an event file, of which the first step is next, with the
// configuration.
func openCurves(run *results.Run, next int64, resolved string) (*curves, error) {
	events, err := run.Events(time.Now, next)
	if err != nil {
		return nil, err
	}
	return &curves{events: events}, events.Text(next, "configuration", "```toml\n"+resolved+"```\n")
}

// scalar is a value of a curve; up to the slash, what it is drawn with.
func scalar(tag string, value float64) tensorboard.Scalar {
	return tensorboard.Scalar{Tag: tag, Value: float32(value)}
}

// epoch adds an epoch of a job, at its steps.
func (c *curves) epoch(r trainer.Row) error {
	if c == nil {
		return nil
	}
	c.last = r
	return c.events.Scalars(r.Steps, scalar("loss/train", r.Loss), scalar("loss/validation", r.Validation.Loss),
		scalar("accuracy/train", r.Accuracy), scalar("accuracy/validation", r.Validation.Accuracy), scalar("learning_rate", r.Rate),
		scalar("parameters", float64(r.Parameters)), scalar("devices", float64(r.Devices)), scalar("budget_seconds", r.Time.Seconds()))
}

// note adds what happened to a job, as a text.
func (c *curves) note(n trainer.Note) error {
	if c == nil {
		return nil
	}
	step := c.last.Steps
	if n.Epoch != c.last.Epoch || c.last == (trainer.Row{}) {
		step += int64(n.Step)
	}
	parts := []string{fmt.Sprintf("at %s with %s", clockText(n.Time), counted(n.Devices, "device"))}
	switch {
	case n.Parameters != n.Before:
		parts = append(parts, fmt.Sprintf("%d parameters become %d", n.Before, n.Parameters))
	default:
		parts = append(parts, counted(n.Parameters, "parameter"))
	}
	parts = append(parts, accuracyText(n.Accuracy)+" accuracy before it")
	if n.Why != "" {
		parts = append(parts, n.Why)
	}
	return c.events.Text(step, strings.ReplaceAll(n.Event, " ", "_"), fmt.Sprintf("**%s** %s", cmp.Or(n.Action, n.Event), strings.Join(parts, ", ")))
}

// study adds figures of a policy of the original's, at its episodes.
func (c *curves) study(r learn.Row, greedy string) error {
	if c == nil {
		return nil
	}
	step := int64(r.Episodes)
	err := c.events.Scalars(step, scalar("objective", r.Objective), scalar("accuracy/episodes", r.Accuracy), scalar("accuracy/expected", r.Expected),
		scalar("temperature", r.Temperature), scalar("learning_rate", r.Rate))
	if err != nil || greedy == c.greedy {
		return err
	}
	c.greedy = greedy
	return c.events.Text(step, "likeliest_sequence", "`"+greedy+"`")
}

// tree adds figures of a seed of structural policies, at its steps.
func (c *curves) tree(r learning.Row) error {
	if c == nil {
		return nil
	}
	of := func(what string, value float64) tensorboard.Scalar {
		return scalar(fmt.Sprintf("%s/seed-%d", what, r.Seed), value)
	}
	figures := []tensorboard.Scalar{of("aim", r.Aim), of("entropy_nats", r.Entropy), of("regret_points", r.Regret)}
	if !math.IsNaN(r.HeldOut) {
		figures = append(figures, of("held_out", r.HeldOut))
	}
	return c.events.Scalars(int64(r.Step), figures...)
}
