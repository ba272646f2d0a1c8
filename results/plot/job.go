package plot

import (
	"fmt"
	"path/filepath"

	"graft/net2net"
	"graft/results"
	"graft/results/document"
	"graft/results/figure"
	"graft/results/runs"
	"graft/trainer"
)

// budgetAxis is the axis of a job's time.
var budgetAxis = figure.Axis{Name: "time of the budget", Unit: "s", Zero: true}

// smoothWindow is the window of a rolling mean: a twentieth of the rows, or one row below 40.
func smoothWindow(rows int) int {
	if rows < 40 {
		return 1
	}
	return rows / 20
}

// smoothed is a curve of rolling means with the measurements behind it.
func smoothed(name string, x, y []float64) figure.Curve {
	window := smoothWindow(len(y))
	if window == 1 {
		return figure.Curve{Name: name, X: x, Y: y}
	}
	return figure.Curve{Name: name, X: x, Y: rolling(y, window), Raw: [][]float64{y}}
}

func smoothNote(rows int, what string) string {
	if smoothWindow(rows) == 1 {
		return ""
	}
	return fmt.Sprintf("Faint: each %s. Line: mean of %d.", what, smoothWindow(rows))
}

// jobColumns reads the table of epochs.
func jobColumns(r *runs.Run) (map[string][]float64, error) {
	list, err := r.Series()
	if err != nil {
		return nil, err
	}
	return NumbersOf(list, "epochs", "time", "steps", "train_loss", "validation_loss", "train_accuracy", "validation_accuracy")
}

// plotCurves draws loss, accuracy and speed over a job's time.
func plotCurves(r *runs.Run) ([]drawing, error) {
	if r.Kind == runs.OriginalKind {
		return plotTrainings(r)
	}
	c, err := jobColumns(r)
	if err != nil {
		return nil, err
	}
	x := c["time"]
	speed := make([]float64, len(x))
	for k := range x {
		before, steps := 0.0, 0.0
		if k > 0 {
			before, steps = x[k-1], c["steps"][k-1]
		}
		speed[k] = (c["steps"][k] - steps) / (x[k] - before)
	}
	return []drawing{{Figure: &figure.Chart{Title: "Loss and accuracy of " + r.Base(), X: budgetAxis, Note: smoothNote(len(x), "epoch"), Panels: []figure.Panel{
		{Y: figure.Axis{Name: "loss", Unit: "nats"}, Curves: []figure.Curve{smoothed("training", x, c["train_loss"]), smoothed("validation", x, c["validation_loss"])}},
		{Y: figure.Axis{Name: "accuracy", Unit: "%"}, Curves: []figure.Curve{smoothed("training", x, inPercent(c["train_accuracy"])), smoothed("validation", x, inPercent(c["validation_accuracy"]))}},
		{Y: figure.Axis{Name: "speed", Unit: "steps/s", Zero: true}, Height: 45, Curves: []figure.Curve{{X: x, Y: speed, Steps: true}}},
	}}}}, nil
}

// jobNotes reads a job's events.
func jobNotes(r *runs.Run) ([]trainer.Note, error) {
	return results.ReadJSONLines[trainer.Note](r.Files, filepath.Join(r.Path, "events.jsonl"))
}

// plotTimeline draws accuracy over time with the events of the job.
func plotTimeline(r *runs.Run) ([]drawing, error) {
	if r.Kind == runs.OriginalKind {
		return plotAnswers(r)
	}
	c, err := jobColumns(r)
	if err != nil {
		return nil, err
	}
	notes, err := jobNotes(r)
	if err != nil {
		return nil, err
	}
	x := c["time"]
	parameters, devices := figure.Curve{Steps: true}, figure.Curve{Steps: true}
	for _, n := range notes {
		parameters.X, parameters.Y = append(parameters.X, n.Time.Seconds()), append(parameters.Y, float64(n.Parameters))
		devices.X, devices.Y = append(devices.X, n.Time.Seconds()), append(devices.Y, float64(n.Devices))
	}
	if end := x[len(x)-1]; len(notes) > 0 {
		for _, c := range []*figure.Curve{&parameters, &devices} {
			c.X, c.Y = append(c.X, max(end, c.X[len(c.X)-1])), append(c.Y, c.Y[len(c.Y)-1])
		}
	}
	return []drawing{{Figure: &figure.Chart{Title: "Accuracy over time of " + r.Base(), X: budgetAxis, Events: timelineEvents(notes), Panels: []figure.Panel{
		{Y: figure.Axis{Name: "accuracy", Unit: "%"}, Curves: []figure.Curve{{Name: "training", X: x, Y: inPercent(c["train_accuracy"])}, {Name: "validation", X: x, Y: inPercent(c["validation_accuracy"])}}},
		{Y: figure.Axis{Name: "parameters", Zero: true, Whole: true}, Height: 45, Curves: []figure.Curve{parameters}},
		{Y: figure.Axis{Name: "devices", Zero: true, Whole: true}, Height: 30, Curves: []figure.Curve{devices}},
	}}}}, nil
}

// timelineEvents lists the events to mark. A decision is merged with the up that it answers; events
// that follow from a down are left out.
func timelineEvents(notes []trainer.Note) []figure.Event {
	var all []figure.Event
	up := false // the last event, without an answer yet
	for _, n := range notes {
		at := n.Time.Seconds()
		switch n.Event {
		case "up":
			all, up = append(all, figure.Event{X: at, Label: "up", Kind: figure.Up}), true
		case "decision":
			label := actionWords(n.Action)
			if up {
				all[len(all)-1].Label += ": " + label
			} else {
				all = append(all, figure.Event{X: at, Label: label, Kind: map[bool]figure.EventKind{false: figure.Up}[n.Action == "none"]})
			}
			up = false
		case "down":
			all, up = append(all, figure.Event{X: at, Label: "down", Kind: figure.Down}), false
		case "devices":
			all, up = append(all, figure.Event{X: at, Label: document.Plural(n.Devices, "device")}), false
		case "peer lost", "peer missing":
			all, up = append(all, figure.Event{X: at, Label: n.Event}), false
		}
	}
	return all
}

// actionWords formats an action for people: deepen conv2, widen conv3 to 64.
func actionWords(text string) string {
	a, err := net2net.ParseAction(text)
	switch {
	case err != nil || a.Kind == net2net.None:
		return text
	case a.Size > 0:
		return fmt.Sprintf("%s %s to %d", a.Kind, a.Target, a.Size)
	}
	return fmt.Sprintf("%s %s", a.Kind, a.Target)
}

// plotSpent draws the use of the budget of a job that has ended.
func plotSpent(r *runs.Run) ([]drawing, error) {
	budget, ended := r.Quantity("budget")
	if !ended {
		return nil, nil
	}
	used, _ := r.Quantity("used")
	deciding, _ := r.Quantity("deciding")
	operating, _ := r.Quantity("operating")
	b := &figure.Bars{Title: "What " + r.Base() + " spent its budget on", Values: true, X: figure.Axis{Name: "time", Unit: "s", Zero: true},
		Note: fmt.Sprintf("Of a budget of %s s, %.2g%% went into deciding and %.2g%% into operating on the network.", document.ShortText(budget), 100*deciding/budget, 100*operating/budget)}
	for _, row := range []struct {
		name  string
		value float64
	}{{"training and evaluation", used - deciding - operating}, {"deciding", deciding}, {"operating", operating}, {"not used", max(0, budget-used)}} {
		b.Groups = append(b.Groups, figure.Group{Name: row.name, Bars: []figure.Bar{{Value: row.value}}})
	}
	return []drawing{{Figure: b}}, nil
}
