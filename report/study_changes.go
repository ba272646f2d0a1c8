package report

import (
	"fmt"
	"slices"
	"strings"

	"graft/cluster/study"
	"graft/internal/stat"
	"graft/report/document"
)

// writeChanges adds the differences between points, and from the baseline if tables do not have them.
func writeChanges(o *study.Outcome, d *document.Document) {
	if len(o.Changes) > 0 {
		d.Head("differences between settings")
		writeSettings(o, d)
	}
	if len(o.FromBaseline) > 0 && (manyCells(o) || len(o.Changes) > 0) {
		d.Head("differences from %s", o.Against)
		writeDifferences(o, d, o.FromBaseline, o.Against)
	}
	crossed := func(c study.PointChange) bool { return c.OverJobs != nil }
	if slices.ContainsFunc(o.Changes, crossed) || slices.ContainsFunc(o.FromBaseline, crossed) {
		d.Say("OVER JOBS is the 95% interval of the difference in " + o.Metric(firstRanked(o)).Title + " over jobs " +
			"and seeds together, from a bootstrap that draws days of submission and seeds independently.")
	}
}

// writeSettings adds the differences between points, and names the schedulers that the settings do not affect.
func writeSettings(o *study.Outcome, d *document.Document) {
	equal := equalInAll(o)
	other := slices.DeleteFunc(slices.Clone(o.Changes), func(c study.PointChange) bool {
		return slices.Contains(equal, c.Scheduler)
	})
	if len(other) > 0 {
		writeDifferences(o, d, other, "")
	}
	if len(equal) > 0 {
		d.Say("Equal in all settings: " + strings.Join(equal, ", ") + ".")
	}
}

// equalInAll lists the schedulers whose simulations have the same results at all points.
func equalInAll(o *study.Outcome) (names []string) {
	metrics := shown(o)
	for _, key := range study.ChangedMetrics(o.Changes) {
		metrics = append(metrics, *o.Metric(key))
	}
	for _, s := range o.Schedulers {
		first, differs := map[string]string{}, false
		for _, c := range o.Cells {
			if c.Scheduler != s.Name {
				continue
			}
			of, text := fmt.Sprint(c.Workload, " ", c.Seed), fmt.Sprint(valuesOf(metrics, c.Values))
			if _, known := first[of]; !known {
				first[of] = text
			}
			differs = differs || first[of] != text
		}
		if !differs && len(first) > 0 {
			names = append(names, s.Name)
		}
	}
	return names
}

// valuesOf returns the values of metrics.
func valuesOf(metrics []study.Metric, values study.Values) (list []study.Number) {
	for k := range metrics {
		list = append(list, values[metrics[k].Key()])
	}
	return list
}

// writeDifferences adds differences from a scheduler, or from the same scheduler at another point, with a row per
// scheduler and point and a column per metric.
func writeDifferences(o *study.Outcome, d *document.Document, list []study.PointChange, from string) {
	keys := study.ChangedMetrics(list)
	t := document.NewTable("scheduler")
	for _, key := range keys {
		m := o.Metric(key)
		t.Numbers(changeUnit(m), "", m.Title)
	}
	crossed := slices.ContainsFunc(list, func(c study.PointChange) bool { return c.OverJobs != nil })
	if crossed {
		t.Numbers(o.Metric(keys[0]).Unit, "", "over jobs")
	}
	for k, c := range list {
		if k > 0 && c.Point == list[k-1].Point && c.Scheduler == list[k-1].Scheduler {
			continue
		}
		cells := []any{pointed(c.Point) + c.Scheduler}
		for _, key := range keys {
			cells = append(cells, changeCell(o, list, c, key))
		}
		if crossed {
			cells = append(cells, overJobsCell(c, o.Metric(keys[0])))
		}
		t.Add(cells...)
	}
	d.Show(t)
	bases := strings.Join(study.ChangeBases(list), " and ")
	if from != "" {
		bases = strings.TrimSuffix(from+" with "+bases, " with ")
	}
	d.Say("Differences from "+bases+", paired by workload and seed.", bracketsLegend(o, list))
}

// bracketsLegend explains the intervals of differences.
func bracketsLegend(o *study.Outcome, list []study.PointChange) string {
	has := func(is func(c study.PointChange) bool) bool { return slices.ContainsFunc(list, is) }
	over := "seeds"
	if len(o.Workloads) > 1 {
		over = "workloads and seeds"
	}
	switch {
	case len(o.Workloads) == 1 && !slices.ContainsFunc(o.Schedulers, func(c study.Candidate) bool { return c.Draws }):
		return "There are no intervals over seeds, because nothing is drawn."
	case !has(func(c study.PointChange) bool { return c.Change.N >= stat.FewestSeeds }):
		return fmt.Sprintf("There are no intervals, because each difference has fewer than %d pairs; raise "+
			"schedule.seeds.", stat.FewestSeeds)
	case !has(func(c study.PointChange) bool { return c.Change.Low != nil && !isEqual(c.Change) }):
		return fmt.Sprintf("There are no intervals over %s: each difference is equal for all of them.", over)
	case has(func(c study.PointChange) bool { return isEqual(c.Change) }):
		return fmt.Sprintf("Brackets hold 95%% intervals over %s. A difference without brackets is equal for all "+
			"%[1]s.", over)
	}
	return fmt.Sprintf("Brackets hold 95%% intervals over %s.", over)
}

// isEqual reports whether a difference is equal for all seeds, so that its interval has no width and means nothing.
func isEqual(s stat.OverSeeds) bool { return s.Low != nil && *s.Low == *s.High }

// overJobsCell formats the interval of a change over jobs and seeds.
func overJobsCell(c study.PointChange, m *study.Metric) any {
	if !c.OverJobs.Whole() {
		return document.Missing()
	}
	low, high := float64(c.OverJobs.Low), float64(c.OverJobs.High)
	return document.Between(&low, &high, m.Unit).As(signed(m.Format))
}

// changeCell formats the change of a metric for the point and scheduler of another change.
func changeCell(o *study.Outcome, list []study.PointChange, row study.PointChange, key string) any {
	for _, c := range list {
		if c.Point == row.Point && c.Scheduler == row.Scheduler && c.Metric == key {
			m, change := o.Metric(key), c.Change
			if isEqual(change) {
				change.Low, change.High = nil, nil
			}
			if m.Unit == document.UnitShare {
				return OverSeeds(inPoints(change), document.UnitPoints, "%+.2f")
			}
			return OverSeeds(change, m.Unit, signed(m.Format))
		}
	}
	return document.Missing()
}

// changeUnit returns the unit of changes of a metric: changes of shares are in percentage points.
func changeUnit(m *study.Metric) string {
	if m.Unit == document.UnitShare {
		return document.UnitPoints
	}
	return m.Unit
}

// inPoints converts a change of a share to percentage points.
func inPoints(s stat.OverSeeds) stat.OverSeeds {
	s.Mean *= 100
	if s.Low != nil {
		low, high := 100**s.Low, 100**s.High
		s.Low, s.High = &low, &high
	}
	return s
}

// signed returns a format that prints the sign of positive numbers.
func signed(format string) string {
	if format == "" {
		return "%+.4g"
	}
	return "%+" + format[1:]
}
