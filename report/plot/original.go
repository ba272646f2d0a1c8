package plot

import (
	"fmt"
	"strings"

	"graft/report/figure"
	"graft/report/runs"
)

// maxTrainings is the maximum number of the original's trainings in a folder for which each has a figure. More
// trainings belong to a simulation, which has a tree.
const maxTrainings = 4

// training holds the metrics of one of the original's trainings.
type training struct {
	prefix string
	of     map[string]runs.Series
}

// trainingsOf lists the trainings in a folder by name.
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

// trainingNames maps accuracy metrics to names of curves.
var trainingNames = []struct{ metric, name string }{{"train_acc", "training"}, {"test_acc", "test"}}

// logTimeAxis is the axis of the original's time.
var logTimeAxis = figure.Axis{Name: "time since the log began", Unit: "s", Zero: true}

// curves lists a training's accuracy curves.
func (t *training) curves(suffix string) (curves []figure.Curve) {
	for _, n := range trainingNames {
		if s, has := t.of[n.metric]; has {
			curves = append(curves, figure.Curve{Name: n.name + suffix, X: s.Columns[1].Values,
				Y: inPercent(s.Columns[2].Values)})
		}
	}
	return curves
}

// plotTrainings draws the accuracies of all trainings in a folder.
func plotTrainings(r *runs.Run) ([]drawing, error) {
	list, err := r.Series()
	if err != nil && len(list) == 0 {
		return nil, err
	}
	panel := figure.Panel{Y: shareAxis("accuracy")}
	all := trainingsOf(list)
	for _, t := range all {
		suffix := ""
		if len(all) > 1 && len(all) <= maxTrainings {
			suffix = ", " + t.prefix
		}
		panel.Curves = append(panel.Curves, t.curves(suffix)...)
	}
	if len(panel.Curves) == 0 {
		return nil, nil
	}
	return []drawing{{Figure: &figure.Chart{Title: "Trainings of " + r.Base(), X: logTimeAxis,
		Panels: []figure.Panel{panel}}}}, nil
}

// plotAnswers draws the accuracies of each training with its agent's answers.
func plotAnswers(r *runs.Run) ([]drawing, error) {
	list, err := r.Series()
	if err != nil && len(list) == 0 {
		return nil, err
	}
	trainings := trainingsOf(list)
	if len(trainings) > maxTrainings {
		return nil, nil
	}
	var all []drawing
	for _, t := range trainings {
		events, curves := t.answers(), t.curves("")
		if len(events) == 0 || len(curves) == 0 {
			continue
		}
		name := t.prefix
		if len(trainings) == 1 {
			name = ""
		}
		all = append(all, drawing{name, &figure.Chart{Title: "Accuracy over time of " + t.prefix, X: logTimeAxis,
			Events: events, Note: "Marks: each change of the network by the agent.",
			Panels: []figure.Panel{{Y: shareAxis("accuracy"), Curves: curves}}}})
	}
	return all, nil
}

// answers lists the actions other than none that a training received, by the action numbers of the published tables.
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
