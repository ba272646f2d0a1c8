package runs

import (
	"graft/cluster/study"
	"graft/report/document"
	"graft/results"
)

// studyOverview shows a cluster simulation, in every world, by its cells and the metric that ranks schedulers. The runs
// inside are single simulations, by scheduler, workload and point, and the trainings of live jobs.
var studyOverview = overview{members: []string{"*", "*/*", "*/*/*", "live/trials/*/*", "live/until-loss/*/trials/*/*"},
	progress: func(r *Run, written *results.Progress) (*results.Progress, error) {
		o, err := OutcomeOf[study.Outcome](r)
		if err != nil || o == nil {
			return written, err
		}
		return r.amount(written, len(o.Cells), "cells"), nil
	}, trend: func(r *Run) (t Trend, err error) {
		o, err := OutcomeOf[study.Outcome](r)
		if err != nil || o == nil {
			return t, err
		}
		m := rankedMetric(o)
		if m == nil {
			return t, nil
		}
		t = Trend{Metric: m.Name, Unit: m.Unit}
		for _, c := range o.Cells {
			if v, has := c.Values[m.Key()]; has {
				t.Values = append(t.Values, float64(v))
			}
		}
		return t, nil
	}}

// rankedMetric returns the metric that ranks schedulers or, if none does, the first main metric; nil without either.
func rankedMetric(o *study.Outcome) (first *study.Metric) {
	for k := range o.Metrics {
		m := &o.Metrics[k]
		if len(o.Ranked) > 0 && m.Key() == o.Ranked[0] {
			return m
		}
		if first == nil && m.Main {
			first = m
		}
	}
	return first
}

// nodeRunOverview shows the tasks of a machine by their times from arrival to completion.
var nodeRunOverview = overview{progress: func(r *Run, written *results.Progress) (*results.Progress, error) {
	o, err := OutcomeOf[NodeRunOutcome](r)
	if err != nil || o == nil {
		return written, err
	}
	return r.amount(written, o.Tasks, "tasks"), nil
}, trend: func(r *Run) (t Trend, err error) {
	o, err := OutcomeOf[NodeRunOutcome](r)
	if err != nil || o == nil {
		return t, err
	}
	t = Trend{Metric: "turnaround", Unit: document.UnitSeconds}
	for _, task := range o.Cells {
		if task.Ended != nil {
			t.Values = append(t.Values, *task.Ended-task.Arrival)
		}
	}
	return t, nil
}}

// nodeProfileOverview shows measured tasks by the speeds of the first task of each measurement.
var nodeProfileOverview = overview{trend: func(r *Run) (t Trend, err error) {
	rows, err := ReadNodeProfile(r.Files, r.Path)
	t = Trend{Metric: "speed"}
	for _, row := range rows {
		t.Values = append(t.Values, row.Speeds[0])
	}
	return t, err
}, progress: func(r *Run, written *results.Progress) (*results.Progress, error) {
	rows, err := ReadNodeProfile(r.Files, r.Path)
	return r.amount(written, len(rows), "measurements"), err
}}
