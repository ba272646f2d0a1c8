package plot

import (
	"math"
	"strings"

	"graft/cluster/study"
	"graft/report/document"
	"graft/report/figure"
	"graft/report/runs"
)

// plotStudyChanges draws the differences between the settings of a simulated cluster, one figure per metric.
func plotStudyChanges(r *runs.Run, o *study.Outcome) (all []drawing, err error) {
	from := strings.Join(study.ChangeBases(o.Changes), " and ")
	for _, key := range study.ChangedMetrics(o.Changes) {
		m := o.Metric(key)
		if m == nil {
			continue
		}
		unit, scale := m.Unit, 1.0
		if unit == document.UnitShare {
			unit, scale = document.UnitPoints, 100
		}
		d := &figure.Dots{Title: "Change of " + m.Title + " from " + from + ", " + r.Base(),
			X: figure.Axis{Name: "change of " + m.Title, Unit: unit}, Zero: "no difference",
			Mean: "difference",
			Note: "Differences from " + from + ", paired by workload and seed."}
		for _, c := range o.Changes {
			if c.Metric != key {
				continue
			}
			d.Rows = append(d.Rows, changeRow(c, scale))
			if c.Change.Low != nil {
				d.Mean = "mean and 95% interval over seeds"
			}
		}
		all = append(all, drawing{m.Name, d})
	}
	return all, nil
}

func changeRow(c study.PointChange, scale float64) figure.DotRow {
	row := figure.DotRow{Name: c.Scheduler + ", " + c.Point, Mean: scale * c.Change.Mean, Low: math.NaN(),
		High: math.NaN()}
	if c.Change.Low != nil && c.Change.High != nil {
		row.Low, row.High = scale**c.Change.Low, scale**c.Change.High
	}
	return row
}
