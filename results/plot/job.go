package plot

import (
	"fmt"
	"path/filepath"
	"strings"

	"graft/config"
	"graft/model"
	"graft/net2net"
	"graft/results"
	"graft/results/document"
	"graft/results/figure"
	"graft/results/runs"
	"graft/tracing"
	"graft/trainer"
)

// budgetAxis is the time of a job.
var budgetAxis = figure.Axis{Name: "time of the budget", Unit: "s", Zero: true}

// smoothOver is how many rows a rolling mean is over: a twentieth of them, at least
// two where there are enough for any.
func smoothOver(rows int) int {
	if rows < 40 {
		return 1
	}
	return rows / 20
}

// smoothed is a curve with its rolling mean, and what was measured behind it.
func smoothed(name string, x, y []float64) figure.Curve {
	window := smoothOver(len(y))
	if window == 1 {
		return figure.Curve{Name: name, X: x, Y: y}
	}
	return figure.Curve{Name: name, X: x, Y: rolling(y, window), Raw: [][]float64{y}}
}

func smoothNote(rows int, what string) string {
	if smoothOver(rows) == 1 {
		return ""
	}
	return fmt.Sprintf("Faint: each %s. Line: mean of %d.", what, smoothOver(rows))
}

// jobColumns are columns of the table of epochs.
func jobColumns(r *runs.Run) (map[string][]float64, error) {
	list, err := r.Series()
	if err != nil {
		return nil, err
	}
	return NumbersOf(list, "epochs", "time", "steps", "train_loss", "validation_loss", "train_accuracy", "validation_accuracy")
}

// plotCurves draws loss, accuracy and speed over a job's time.
func plotCurves(r *runs.Run) ([]plotted, error) {
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
	return []plotted{{Figure: &figure.Chart{Title: "Loss and accuracy of " + r.Base(), X: budgetAxis, Note: smoothNote(len(x), "epoch"), Panels: []figure.Panel{
		{Y: figure.Axis{Name: "loss", Unit: "nats"}, Curves: []figure.Curve{smoothed("training", x, c["train_loss"]), smoothed("validation", x, c["validation_loss"])}},
		{Y: figure.Axis{Name: "accuracy", Unit: "%"}, Curves: []figure.Curve{smoothed("training", x, inPercent(c["train_accuracy"])), smoothed("validation", x, inPercent(c["validation_accuracy"]))}},
		{Y: figure.Axis{Name: "speed", Unit: "steps/s", Zero: true}, Height: 45, Curves: []figure.Curve{{X: x, Y: speed, Steps: true}}},
	}}}}, nil
}

// jobNotes are a job's events.
func jobNotes(r *runs.Run) ([]trainer.Note, error) {
	return results.ReadJSONLines[trainer.Note](r.Fsys, filepath.Join(r.Path, "events.jsonl"))
}

// plotTimeline draws accuracy over time, with what happened to the job.
func plotTimeline(r *runs.Run) ([]plotted, error) {
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
	return []plotted{{Figure: &figure.Chart{Title: "Accuracy over time of " + r.Base(), X: budgetAxis, Events: happenings(notes), Panels: []figure.Panel{
		{Y: figure.Axis{Name: "accuracy", Unit: "%"}, Curves: []figure.Curve{{Name: "training", X: x, Y: inPercent(c["train_accuracy"])}, {Name: "validation", X: x, Y: inPercent(c["validation_accuracy"])}}},
		{Y: figure.Axis{Name: "parameters", Zero: true, Whole: true}, Height: 45, Curves: []figure.Curve{parameters}},
		{Y: figure.Axis{Name: "devices", Zero: true, Whole: true}, Height: 30, Curves: []figure.Curve{devices}},
	}}}}, nil
}

// happenings are the events worth a line: a decision stands with the up that it
// answers, and what follows from a down with that.
func happenings(notes []trainer.Note) []figure.Event {
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

// actionWords is an action as people read it: deepen conv2, widen conv3 to 64.
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

// plotSpent draws what a job that ended spent its budget on.
func plotSpent(r *runs.Run) ([]plotted, error) {
	budget, ended := r.Quantity("budget")
	if !ended {
		return nil, nil
	}
	used, _ := r.Quantity("used")
	deciding, _ := r.Quantity("deciding")
	operating, _ := r.Quantity("operating")
	b := &figure.Bars{Title: "What " + r.Base() + " spent its budget on", Values: true, X: figure.Axis{Name: "time", Unit: "s", Zero: true},
		Note: fmt.Sprintf("Of a budget of %s s, %.2g%% went into deciding and %.2g%% into operating on the network.", document.Short(budget), 100*deciding/budget, 100*operating/budget)}
	for _, row := range []struct {
		name  string
		value float64
	}{{"training and evaluation", used - deciding - operating}, {"deciding", deciding}, {"operating", operating}, {"not used", max(0, budget-used)}} {
		b.Groups = append(b.Groups, figure.Group{Name: row.name, Bars: []figure.Bar{{Value: row.value}}})
	}
	return []plotted{{Figure: b}}, nil
}

// plotNetworks draws the network that a job began with and the largest that it became,
// by doing the actions that it took again, without weights.
func plotNetworks(r *runs.Run) ([]plotted, error) {
	notes, err := jobNotes(r)
	if err != nil {
		return nil, err
	}
	actions := largestWith(notes)
	if len(actions) == 0 {
		return nil, nil
	}
	saved, err := trainer.SavedNetwork(r.Fsys, r.Path)
	if err != nil || saved == nil {
		return nil, err
	}
	job, err := config.ReadJob(r.Fsys, filepath.Join(r.Path, runs.ResolvedFile), nil)
	if err != nil {
		return nil, err
	}
	before, err := beganWith(job, saved)
	if err != nil {
		return nil, err
	}
	after, words := before.Sketch(), []string(nil)
	for _, text := range actions {
		action, err := net2net.ParseAction(text)
		if err != nil {
			return nil, err
		}
		if _, err := net2net.Apply(after, action, job.Options().Adapt.Surgery); err != nil {
			return nil, fmt.Errorf("do %s again: %w", text, err)
		}
		words = append(words, actionWords(text))
	}
	s, err := SurgeryFigure(before, after, strings.Join(words, ", "))
	if err != nil {
		return nil, err
	}
	return []plotted{{Figure: s}}, nil
}

// largestWith are the actions that led to the largest network of a job. A shrink takes
// all back that followed the last up.
func largestWith(notes []trainer.Note) (actions []string) {
	var now []string
	var levels []int
	most := 0
	for _, n := range notes {
		switch {
		case n.Event == "up":
			levels = append(levels, len(now))
		case n.Event == "decision" && n.Action != "none":
			now = append(now, n.Action)
		case n.Event == "shrink" && len(levels) > 0:
			now, levels = now[:levels[len(levels)-1]], levels[:len(levels)-1]
		}
		if len(now) > 0 && n.Parameters >= most {
			most, actions = n.Parameters, append([]string(nil), now...)
		}
	}
	return actions
}

// beganWith is the network that a job began with, for the images and classes of one
// that it saved.
func beganWith(job *config.Job, saved *model.Network) (*model.Network, error) {
	trace, err := tracing.Read(saved)
	if err != nil {
		return nil, err
	}
	last := trace.Layers[len(trace.Layers)-1]
	return job.Model(saved.Input, last.Out.Shape[0])
}

// SurgeryFigure draws two networks side by side.
func SurgeryFigure(before, after *model.Network, actions string) (*figure.Surgery, error) {
	s := &figure.Surgery{Title: "The network before and after " + actions, Note: "After " + actions + "."}
	first, err := layersOf(before)
	if err != nil {
		return nil, err
	}
	second, err := layersOf(after)
	if err != nil {
		return nil, err
	}
	s.Before = figure.Network{Name: "before: " + before.Name(), Detail: document.Thousands(before.Parameters()) + " parameters"}
	s.After = figure.Network{Name: "after: " + after.Name(), Detail: document.Thousands(after.Parameters()) + " parameters"}
	match := aligned(first, second)
	for k, l := range first {
		s.Before.Layers = append(s.Before.Layers, figure.Layer{Key: fmt.Sprint(k), Name: l.words, Block: l.block})
	}
	for k, l := range second {
		drawn := figure.Layer{Key: fmt.Sprint("new ", k), Name: l.words, Block: l.block}
		if was := match[k]; was >= 0 {
			drawn.Key, drawn.Wider = fmt.Sprint(was), first[was].words != l.words
		}
		s.After.Layers = append(s.After.Layers, drawn)
	}
	return s, nil
}

// drawnLayer is what a drawing says of a layer.
type drawnLayer struct{ path, kind, words, block string }

// layersOf lists a network's layers in the order in which they run.
func layersOf(n *model.Network) ([]drawnLayer, error) {
	trace, err := tracing.Read(n)
	if err != nil {
		return nil, err
	}
	var all []drawnLayer
	for _, l := range trace.Layers {
		kind, _, _ := strings.Cut(l.Leaf.Layer.String(), "(")
		all = append(all, drawnLayer{l.At.Path, kind, layerWords(kind, l), blockOf(trace, l)})
	}
	return all, nil
}

// likeness is how much speaks for two layers being the same before and after surgery,
// which may give a layer another path, or another size.
func likeness(a, b drawnLayer) int {
	switch {
	case a.kind != b.kind:
		return 0
	case a.path == b.path && a.words == b.words:
		return 4
	case a.words == b.words:
		return 3
	case a.path == b.path:
		return 2
	case strings.HasPrefix(b.path, a.path+"."): // it stands in a container now
		return 1
	}
	return 0
}

// aligned finds the layers after surgery among those before, in one order, such that
// as much as possible speaks for it; -1 is one that is new. Equal ones are the first of
// their like, since a new layer stands behind the one that it was made for.
func aligned(before, after []drawnLayer) []int {
	best := make([][]int, len(before)+1) // of what is left from a place on in each
	for i := range best {
		best[i] = make([]int, len(after)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(after) - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if l := likeness(before[i], after[j]); l > 0 {
				best[i][j] = max(best[i][j], best[i+1][j+1]+l)
			}
		}
	}
	match := make([]int, len(after))
	i := 0
	for j := range after {
		match[j] = -1
		for i < len(before) && best[i][j] == best[i+1][j] && best[i][j] > 0 {
			i++ // this one is gone
		}
		if i < len(before) {
			if l := likeness(before[i], after[j]); l > 0 && best[i][j] == best[i+1][j+1]+l {
				match[j], i = i, i+1
			}
		}
	}
	return match
}

// layerWords says what a layer is and how large, in few letters.
func layerWords(kind string, l *tracing.Layer) string {
	switch layer := l.Leaf.Layer.(type) {
	case model.Conv2d:
		return fmt.Sprintf("Conv2d %d to %d, %d×%d", layer.In, layer.Out, layer.Kernel.H, layer.Kernel.W)
	case model.Linear:
		return fmt.Sprintf("Linear %d to %d", layer.In, layer.Out)
	}
	return kind + " " + strings.ReplaceAll(l.Out.Shape.String(), "x", "×")
}

// blockOf is the name of the block that a layer belongs to.
func blockOf(t *tracing.Trace, l *tracing.Layer) string {
	for _, b := range t.Blocks {
		for _, other := range b.Layers {
			if other == l {
				return b.Name
			}
		}
	}
	return ""
}
