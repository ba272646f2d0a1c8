package train

import (
	"cmp"
	"fmt"
	"strings"

	"graft/internal/words"
	"graft/report/document"
	"graft/results/tensorboard"
	"graft/runner/app"
	"graft/trainer"
)

// jobCurves draws a job in TensorBoard. Nil draws nothing.
type jobCurves struct {
	*app.EventCurves
	last trainer.Row // last written row
}

// openCurves starts drawing after these rows, if run.tensorboard is set.
func (j *job) openCurves(made *trainer.Job, rows []trainer.Row) error {
	if !j.Run.Tensorboard {
		return nil
	}
	next := int64(0)
	if len(rows) > 0 || made.Steps > 0 {
		next = made.Steps + 1
	}
	events, err := app.OpenEventCurves(j.env.Now, j.stored, next, j.Resolved())
	if err != nil {
		return err
	}
	j.record.curves = &jobCurves{EventCurves: events}
	if len(rows) > 0 {
		j.record.curves.last = rows[len(rows)-1]
	}
	return nil
}

// epoch adds an epoch, at its step.
func (c *jobCurves) epoch(r trainer.Row) error {
	if c == nil {
		return nil
	}
	c.last = r
	values := []tensorboard.Scalar{app.Scalar("loss/train", r.Loss), app.Scalar("loss/validation", r.Validation.Loss),
		app.Scalar("accuracy/train", r.Accuracy), app.Scalar("accuracy/validation", r.Validation.Accuracy),
		app.Scalar("learning_rate", r.Rate), app.Scalar("parameters", float64(r.Parameters)),
		app.Scalar("devices", float64(r.Devices)), app.Scalar("budget_seconds", r.Time.Seconds()),
		app.Scalar("flop", r.FLOP), app.Scalar("device_seconds", r.DeviceTime.Seconds())}
	if r.Efficiency > 0 {
		values = append(values, app.Scalar("batch", float64(r.Batch)), app.Scalar("throughput", r.Throughput),
			app.Scalar("efficiency", r.Efficiency), app.Scalar("goodput", r.Goodput))
	}
	return c.Scalars(r.Steps, values...)
}

// note adds an event as a text.
func (c *jobCurves) note(n trainer.Note) error {
	if c == nil {
		return nil
	}
	step := c.last.Steps
	if n.Epoch != c.last.Epoch || c.last == (trainer.Row{}) {
		step += int64(n.Step)
	}
	parts := []string{fmt.Sprintf("at %s with %s", document.SecondsText(n.Time), words.Plural(n.Devices, "device"))}
	switch {
	case n.Parameters != n.Before:
		parts = append(parts, fmt.Sprintf("%s become %d", words.Plural(n.Before, "parameter"), n.Parameters))
	default:
		parts = append(parts, words.Plural(n.Parameters, "parameter"))
	}
	parts = append(parts, document.AccuracyText(n.Accuracy)+" accuracy before it")
	if n.Why != "" {
		parts = append(parts, n.Why)
	}
	return c.Text(step, strings.ReplaceAll(string(n.Event), " ", "_"),
		fmt.Sprintf("**%s** %s", cmp.Or(n.Action, string(n.Event)), strings.Join(parts, ", ")))
}
