package plot

import (
	"fmt"
	"strings"

	"graft/results/figure"
	"graft/results/runs"
)

// fewTrainings is up to how many of the original's trainings in a folder each have a
// figure of their own; more are of a simulation, which has its tree.
const fewTrainings = 4

// training is one of the original's trainings, by metric.
type training struct {
	prefix string
	of     map[string]runs.Series
}

// trainingsOf are the trainings in a folder, in the order of their names.
func trainingsOf(list []runs.Series) []*training {
	var all []*training
	for _, s := range list {
		prefix, metric, is := strings.Cut(s.Name, ".epoch.")
		if !is || len(s.Columns) < 3 || len(s.Columns[0].Values) == 0 {
			continue
		}
		if len(all) == 0 || all[len(all)-1].prefix != prefix {
			all = append(all, &training{prefix, map[string]runs.Series{}})
		}
		all[len(all)-1].of[metric] = s
	}
	return all
}

// trainingNames are the metrics that are accuracies, and what they are called.
var trainingNames = []struct{ metric, name string }{{"train_acc", "training"}, {"test_acc", "test"}}

// sinceStart is the time of the original's metrics.
var sinceStart = figure.Axis{Name: "time since the log began", Unit: "s", Zero: true}

// curves are a training's accuracies.
func (t *training) curves(suffix string) (curves []figure.Curve) {
	for _, n := range trainingNames {
		if s, has := t.of[n.metric]; has {
			curves = append(curves, figure.Curve{Name: n.name + suffix, X: s.Columns[1].Values, Y: inPercent(s.Columns[2].Values)})
		}
	}
	return curves
}

// plotTrainings draws the accuracies of all trainings in a folder.
func plotTrainings(r *runs.Run) ([]plotted, error) {
	list, err := r.Series()
	if err != nil && len(list) == 0 {
		return nil, err
	}
	panel := figure.Panel{Y: figure.Axis{Name: "accuracy", Unit: "%"}}
	all := trainingsOf(list)
	for _, t := range all {
		suffix := ""
		if len(all) > 1 && len(all) <= fewTrainings {
			suffix = ", " + t.prefix
		}
		panel.Curves = append(panel.Curves, t.curves(suffix)...)
	}
	if len(panel.Curves) == 0 {
		return nil, nil
	}
	return []plotted{{Figure: &figure.Chart{Title: "Trainings of " + r.Base(), X: sinceStart, Panels: []figure.Panel{panel}}}}, nil
}

// plotAnswers draws the accuracies of each training with what its agent answered.
func plotAnswers(r *runs.Run) ([]plotted, error) {
	list, err := r.Series()
	if err != nil && len(list) == 0 {
		return nil, err
	}
	trainings := trainingsOf(list)
	if len(trainings) > fewTrainings {
		return nil, nil
	}
	var all []plotted
	for _, t := range trainings {
		events, curves := t.answers(), t.curves("")
		if len(events) == 0 || len(curves) == 0 {
			continue
		}
		name := t.prefix
		if len(trainings) == 1 {
			name = ""
		}
		all = append(all, plotted{name, &figure.Chart{Title: "Accuracy over time of " + t.prefix, X: sinceStart, Events: events,
			Note:   "Marked: each time that the agent had the network changed.",
			Panels: []figure.Panel{{Y: figure.Axis{Name: "accuracy", Unit: "%"}, Curves: curves}}}})
	}
	return all, nil
}

// answers are the actions other than none that a training was given, by the numbers of
// the published tables.
func (t *training) answers() (events []figure.Event) {
	s := t.of["action"]
	if len(s.Columns) < 3 {
		return nil
	}
	for k, v := range s.Columns[2].Values {
		label := fmt.Sprintf("action %v", v)
		if n := int(v); v >= 0 && n < len(runs.OriginalActions) {
			label = actionWords(runs.OriginalActions[n])
		}
		if v == v && label != "none" {
			events = append(events, figure.Event{X: s.Columns[1].Values[k], Label: label, Kind: figure.Up})
		}
	}
	return events
}
