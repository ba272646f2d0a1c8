package report

import (
	"fmt"
	"slices"
	"strings"

	"graft/cluster/study"
	"graft/internal/stat"
	"graft/report/document"
)

// writeChanges adds the differences between points, with a row per scheduler and point and a column per metric.
func writeChanges(o *study.Outcome, d *document.Document) {
	if len(o.Changes) == 0 {
		return
	}
	keys := o.ChangedMetrics()
	d.Head("differences between settings")
	t := document.NewTable("scheduler")
	for _, key := range keys {
		m := o.Metric(key)
		t.Numbers(changeUnit(m), "", m.Title)
	}
	crossed := slices.ContainsFunc(o.Changes, func(c study.PointChange) bool { return c.OverJobs != nil })
	if crossed {
		t.Numbers(o.Metric(keys[0]).Unit, "", "over jobs")
	}
	for k, c := range o.Changes {
		if k > 0 && c.Point == o.Changes[k-1].Point && c.Scheduler == o.Changes[k-1].Scheduler {
			continue
		}
		cells := []any{pointed(c.Point) + c.Scheduler}
		for _, key := range keys {
			cells = append(cells, changeCell(o, c, key))
		}
		if crossed {
			cells = append(cells, overJobsCell(c, o.Metric(keys[0])))
		}
		t.Add(cells...)
	}
	d.Show(t)
	intervals := "Brackets hold 95% intervals over seeds."
	if !slices.ContainsFunc(o.Changes, func(c study.PointChange) bool { return c.Change.Low != nil }) {
		intervals = fmt.Sprintf("There are no intervals, because each difference has fewer than %d pairs; raise "+
			"schedule.seeds.", stat.FewestSeeds)
	}
	d.Say("Differences from "+strings.Join(o.ChangeBases(), " and ")+", paired by workload and seed.", intervals)
	if crossed {
		d.Say("OVER JOBS is the 95% interval of the difference in " + o.Metric(keys[0]).Title + " over jobs and " +
			"seeds together, from a bootstrap that draws days of submission and seeds independently.")
	}
}

// overJobsCell formats the interval of a change over jobs and seeds.
func overJobsCell(c study.PointChange, m *study.Metric) any {
	if !c.OverJobs.Whole() {
		return document.Missing()
	}
	low, high := float64(c.OverJobs.Low), float64(c.OverJobs.High)
	return document.Between(&low, &high, m.Unit).As(signed(m.Format))
}

// changeCell formats the change of a metric for the point and scheduler of another change.
func changeCell(o *study.Outcome, row study.PointChange, key string) any {
	for _, c := range o.Changes {
		if c.Point == row.Point && c.Scheduler == row.Scheduler && c.Metric == key {
			m, change := o.Metric(key), c.Change
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
