package runs

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"graft/cluster/study"
	"graft/cluster/worlds"
	"graft/internal/failure"
	"graft/internal/stat"
	"graft/results"
)

// Tables of a cluster simulation: CellsStream has one row per cell, and PartsStream one row per cell and group of jobs.
const (
	CellsStream = "cells"
	PartsStream = "parts"
)

// StudyKinds returns the kinds of run folders for cluster simulations, one for each kind of simulation in package
// worlds.
var StudyKinds = sync.OnceValue(func() (kinds []*Kind) {
	for _, w := range worlds.All() {
		kinds = append(kinds, studyKind(w))
	}
	return kinds
})

func studyKind(w *study.World) *Kind {
	return &Kind{Name: w.Name, By: w.RunCommand(), Title: w.Title, Titles: w.Titles, read: readStudy,
		list: studyOverview,
		matches: func(f *Folder) bool {
			return f.Has(ManifestFile) && f.Has(CellsStream+".csv") && f.named().Kind == w.Name
		}}
}

// KindOfWorld returns the kind of run folder that a kind of cluster simulation writes.
func KindOfWorld(w *study.World) *Kind { return kindNamed(w.Name) }

// IsStudy reports whether run folders of this kind hold cluster simulations.
func (k *Kind) IsStudy() bool { return worlds.Named(k.Name) != nil }

func readStudy(f *Folder, r *Run) error {
	o := &study.Outcome{}
	if err := f.readOwn(r, o); err != nil {
		return err
	}
	if err := o.Validate(); r.Ended && err != nil {
		return failure.AsDamage(fmt.Errorf("read %s: %w", f.At(OutcomeFile), err))
	}
	r.Seeded = false
	for _, s := range o.Summaries {
		name := s.Scheduler + "_"
		if s.Point != "" {
			name = s.Point + ": " + name
		}
		for _, m := range o.Metrics {
			if v, has := s.Values[m.Key()]; has && m.Main {
				q := seedless(name+m.Name, m.Unit, directionOf(m.Better), float64(v))
				if seeds, values := valuesBySeed(o, &s, &m); seeds != nil {
					q.Seeds, q.Values = seeds, values
				}
				q.Over, q.Detail = intervalOf(o, &s, &m), true
				r.Quantities = append(r.Quantities, q)
			}
		}
	}
	addDifferences(r, o)
	return nil
}

// valuesBySeed returns a scheduler's values of a metric with their seeds, so that reports pair several cluster
// simulations by seed. It returns nil for several workloads, for a single simulation, and for a learned
// scheduler, whose simulations have numbers of policies instead of seeds.
func valuesBySeed(o *study.Outcome, s *study.Summary, m *study.Metric) (seeds []int64, values []float64) {
	learned := slices.ContainsFunc(o.Schedulers, func(c study.Candidate) bool {
		return c.Name == s.Scheduler && c.Learned > 0
	})
	if len(o.Workloads) != 1 || s.Cells < 2 || learned {
		return nil, nil
	}
	for _, c := range o.Cells {
		v, has := c.Values[m.Key()]
		if c.Point != s.Point || c.Scheduler != s.Scheduler || !has || !v.Known() {
			continue
		}
		seeds, values = append(seeds, int64(c.Seed)), append(values, float64(v))
	}
	return seeds, values
}

// intervalOf returns the interval of a scheduler's metric over workloads or, with a single workload and a single
// simulation, over jobs. It returns nil without an interval.
func intervalOf(o *study.Outcome, s *study.Summary, m *study.Metric) *stat.Interval {
	for _, r := range o.Rankings {
		for _, standing := range r.Standings {
			if r.Point == s.Point && r.Metric == m.Key() && standing.Scheduler == s.Scheduler {
				return standing.Interval
			}
		}
	}
	if s.Cells > 1 || len(o.Ranked) == 0 || o.Ranked[0] != m.Key() {
		return nil
	}
	for _, c := range o.Cells {
		if c.Point == s.Point && c.Scheduler == s.Scheduler {
			return wholeInterval(c.Interval)
		}
	}
	return nil
}

// addDifferences adds the differences from the baseline, which the tables of the study show.
func addDifferences(r *Run, o *study.Outcome) {
	add := func(point, scheduler string, m *study.Metric, i *stat.Interval) {
		if i == nil {
			return
		}
		name := fmt.Sprintf("%s_%s_minus_%s", scheduler, m.Name, o.Against)
		if point != "" {
			name = point + ": " + name
		}
		q := seedless(name, m.Unit, directionOf(m.Better), i.Mean)
		q.Signed, q.Over, q.Detail, q.Alone = true, i, true, true
		r.Quantities = append(r.Quantities, q)
	}
	for _, ranking := range o.Rankings {
		for _, s := range ranking.Standings {
			add(ranking.Point, s.Scheduler, o.Metric(ranking.Metric), s.Difference)
		}
	}
	for _, s := range o.Summaries {
		for _, c := range o.Cells {
			if s.Cells == 1 && c.Point == s.Point && c.Scheduler == s.Scheduler && len(o.Ranked) > 0 {
				add(c.Point, c.Scheduler, o.Metric(o.Ranked[0]), wholeInterval(c.Difference))
			}
		}
	}
}

// wholeInterval returns an interval with both ends, otherwise nil.
func wholeInterval(i *study.Interval) *stat.Interval {
	if !i.Whole() {
		return nil
	}
	return &stat.Interval{Mean: float64(i.Mean), Low: float64(i.Low), High: float64(i.High)}
}

func directionOf(b study.Better) Direction {
	switch b {
	case study.Lower:
		return Lower
	case study.Higher:
		return Higher
	}
	return Neutral
}

// CellColumns returns the columns of [CellsStream]: columns that identify a simulation, and a column for each metric.
func CellColumns(metrics []study.Metric) []results.Column {
	return append([]results.Column{
		{Name: "point", Kind: results.String}, {Name: "workload", Kind: results.String},
		{Name: "scheduler", Kind: results.String}, {Name: "seed", Kind: results.Int},
	}, metricColumns(metrics)...)
}

// PartColumns returns the columns of [PartsStream]: columns that identify a simulation and a group of its jobs, and a
// column for each metric.
func PartColumns(metrics []study.Metric) []results.Column {
	return append([]results.Column{
		{Name: "point", Kind: results.String}, {Name: "workload", Kind: results.String},
		{Name: "scheduler", Kind: results.String}, {Name: "seed", Kind: results.Int},
		{Name: "group", Kind: results.String}, {Name: "part", Kind: results.String},
	}, metricColumns(metrics)...)
}

func metricColumns(metrics []study.Metric) (columns []results.Column) {
	for _, m := range metrics {
		columns = append(columns, results.Column{Name: m.Name, Unit: m.Unit})
	}
	return columns
}

// Spans reads the spans of one simulation of a run: the periods in which its jobs used devices.
func Spans(r *Run, folder string) (all []NodeSpan, err error) {
	err = eachRow(r, filepath.Join(folder, study.SpansTable+".csv"), func(row *tableRow) {
		s := NodeSpan{
			Task: row.text(study.JobColumn), Group: row.text("group"), GPU: row.place("device"),
			Lane: row.place("lane"), From: row.number("from [s]"), To: row.number("to [s]"), End: row.text("end"),
		}
		if s.To < s.From {
			row.fault("to [s]", "the end is before the start in column \"from [s]\"")
		}
		all = append(all, s)
	})
	return all, err
}
