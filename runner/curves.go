package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"graft/results/document"
	"graft/trainer"
	"graft/work"
)

// boardFlag adds the flag that writes for TensorBoard.
func boardFlag(command *cobra.Command, on *bool) {
	command.Flags().BoolVar(on, "tensorboard", false, "write event files for TensorBoard into the run folder, as run.tensorboard = true does")
}

// jobCurves draw a job in TensorBoard. Nil draws nothing.
type jobCurves struct {
	*work.EventCurves
	last trainer.Row // that was written
}

// epoch adds an epoch of a job, at its steps.
func (c *jobCurves) epoch(r trainer.Row) error {
	if c == nil {
		return nil
	}
	c.last = r
	return c.Scalars(r.Steps, work.Scalar("loss/train", r.Loss), work.Scalar("loss/validation", r.Validation.Loss),
		work.Scalar("accuracy/train", r.Accuracy), work.Scalar("accuracy/validation", r.Validation.Accuracy), work.Scalar("learning_rate", r.Rate),
		work.Scalar("parameters", float64(r.Parameters)), work.Scalar("devices", float64(r.Devices)), work.Scalar("budget_seconds", r.Time.Seconds()))
}

// note adds what happened to a job, as a text.
func (c *jobCurves) note(n trainer.Note) error {
	if c == nil {
		return nil
	}
	step := c.last.Steps
	if n.Epoch != c.last.Epoch || c.last == (trainer.Row{}) {
		step += int64(n.Step)
	}
	parts := []string{fmt.Sprintf("at %s with %s", document.ClockText(n.Time), document.Counted(n.Devices, "device"))}
	switch {
	case n.Parameters != n.Before:
		parts = append(parts, fmt.Sprintf("%d parameters become %d", n.Before, n.Parameters))
	default:
		parts = append(parts, document.Counted(n.Parameters, "parameter"))
	}
	parts = append(parts, document.AccuracyText(n.Accuracy)+" accuracy before it")
	if n.Why != "" {
		parts = append(parts, n.Why)
	}
	return c.Text(step, strings.ReplaceAll(n.Event, " ", "_"), fmt.Sprintf("**%s** %s", cmp.Or(n.Action, n.Event), strings.Join(parts, ", ")))
}
