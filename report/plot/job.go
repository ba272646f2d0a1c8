package plot

import (
	"fmt"
	"math"
	"path/filepath"

	"graft/internal/words"
	"graft/net2net"
	"graft/report/document"
	"graft/report/figure"
	"graft/report/runs"
	"graft/results"
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

// smoothed returns a curve of rolling means with the measurements behind it.
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
func jobColumns(r *runs.Run, more ...string) (map[string][]float64, error) {
	list, err := r.Series()
	if err != nil {
		return nil, err
	}
	c, err := NumbersOf(list, "epochs", append(more, "time", "steps", "train_loss", "validation_loss", "train_accuracy",
		"validation_accuracy")...)
	before := 0.0
	for k, steps := range c["steps"] {
		if steps == before { // the budget ended before the first step of the epoch
			c["train_loss"][k], c["train_accuracy"][k] = math.NaN(), math.NaN()
		}
		before = steps
	}
	return c, err
}

// plotCurves draws loss, accuracy and speed over a job's time or another of its costs.
func (g Given) plotCurves(r *runs.Run) ([]drawing, error) {
	if r.Kind == runs.OriginalKind {
		return plotTrainings(r)
	}
	cost := costOf(g.X)
	c, err := jobColumns(r, cost.column)
	if err != nil {
		return nil, err
	}
	axis, x := cost.scaled(c[cost.column])
	start := 0.0
	if notes, err := jobNotes(r); err == nil && len(notes) > 0 {
		start = notes[0].Time.Seconds()
	}
	speed := speedCurve(start, c["time"], c["steps"])
	if cost.column != "time" {
		speed.X = append([]float64{0}, x[:len(speed.X)-1]...)
	}
	return []drawing{{Figure: &figure.Chart{Title: "Loss and accuracy of " + r.Base(), X: axis,
		Note: smoothNote(len(x), "epoch"), Panels: []figure.Panel{
			{Y: figure.Axis{Name: "loss", Unit: "nats"},
				Curves: []figure.Curve{smoothed("training", x, c["train_loss"]),
					smoothed("validation", x, c["validation_loss"])}},
			{Y: shareAxis("accuracy"), Curves: []figure.Curve{smoothed("training", x, inPercent(c["train_accuracy"])),
				smoothed("validation", x, inPercent(c["validation_accuracy"]))}},
			{Y: figure.Axis{Name: "speed", Unit: "steps/s", Zero: true}, Height: 45, Curves: []figure.Curve{speed}},
		}}}}, nil
}

// speedCurve draws the steps per second of each epoch from its start to its end. It ends with the last whole epoch: an
// epoch cut by the end of the budget contains a whole evaluation, so it looks slower.
func speedCurve(start float64, ends, steps []float64) figure.Curve {
	if n := len(ends); n > 1 && steps[n-1]-steps[n-2] < largestStep(steps[:n-1]) {
		ends = ends[:n-1]
	}
	c := figure.Curve{X: []float64{start}, Steps: true}
	for k, end := range ends {
		before := 0.0
		if k > 0 {
			before = steps[k-1]
		}
		c.X, c.Y = append(c.X, end), append(c.Y, (steps[k]-before)/(end-c.X[k]))
	}
	c.Y = append(c.Y, c.Y[len(c.Y)-1])
	return c
}

// largestStep is the largest increase between two values, the first from zero.
func largestStep(values []float64) float64 {
	most, before := 0.0, 0.0
	for _, v := range values {
		most, before = max(most, v-before), v
	}
	return most
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
	return []drawing{{Figure: &figure.Chart{Title: "Accuracy over time of " + r.Base(), X: budgetAxis,
		Events: timelineEvents(notes), Panels: []figure.Panel{
			{Y: shareAxis("accuracy"), Curves: []figure.Curve{{Name: "training", X: x,
				Y: inPercent(c["train_accuracy"])},
				{Name: "validation", X: x, Y: inPercent(c["validation_accuracy"])}}},
			{Y: figure.Axis{Name: "parameters", Zero: true, Whole: true}, Height: 45,
				Curves: []figure.Curve{parameters}},
			{Y: figure.Axis{Name: "devices", Zero: true, Whole: true}, Height: 30, Curves: []figure.Curve{devices}},
		}}}}, nil
}

// timelineEvents lists the events to mark. A decision is merged with the up that it answers, at once and before the
// next step.
func timelineEvents(notes []trainer.Note) []figure.Event {
	var all []figure.Event
	up := trainer.Note{} // the last mark, if it is an up that no decision has answered yet
	for _, n := range notes {
		traits := n.Event.Traits()
		switch {
		case traits.Notice != results.Marked:
			continue
		case up.Event != "" && traits.Look == results.Choice && n.Epoch == up.Epoch && n.Step <= up.Step:
			all[len(all)-1].Label += ": " + markOf(n).Label
		default:
			all = append(all, markOf(n))
		}
		if up = (trainer.Note{}); n.Event == results.EventUp {
			up = n
		}
	}
	return all
}

// markOf labels an event by its news: a decision by its action, others by their name. An action that was not applied
// has a neutral mark.
func markOf(n trainer.Note) figure.Event {
	mark := figure.Event{X: n.Time.Seconds(), Label: document.Printable(string(n.Event))}
	if n.Event == results.EventDevices {
		mark.Label = words.Plural(n.Devices, "device")
	}
	switch n.Event.Traits().Look {
	case results.Up:
		mark.Kind = figure.Up
	case results.Down:
		mark.Kind = figure.Down
	case results.Choice:
		switch {
		case n.Action == "":
		case n.Event != results.EventDecision:
			mark.Label += ": " + actionWords(n.Action)
		default:
			mark.Label = actionWords(n.Action)
			mark.Kind = map[bool]figure.EventKind{true: figure.Up}[n.Action != "none"]
		}
	}
	return mark
}

// actionWords formats an action as text: deepen conv2, widen conv3 to 64.
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
	b := &figure.Bars{Title: "Use of the budget of " + r.Base(),
		Values: true, X: figure.Axis{Name: "time", Unit: "s", Zero: true},
		Note: fmt.Sprintf("Budget: %s s, of which %.2g%% for deciding and %.2g%% for surgery.",
			document.ShortText(budget), 100*deciding/budget, 100*operating/budget)}
	for _, row := range []struct {
		name  string
		value float64
	}{{"training and evaluation", used - deciding - operating}, {"deciding", deciding}, {"operating", operating},
		{"not used", max(0, budget-used)}} {
		b.Groups = append(b.Groups, figure.Group{Name: row.name, Bars: []figure.Bar{{Value: row.value}}})
	}
	return []drawing{{Figure: b}}, nil
}
