package plot

import (
	"fmt"
	"math"
	"strings"

	"graft/report/document"
	"graft/report/figure"
	"graft/report/runs"
)

// plotDifferences draws each seed's difference from the baseline, with the mean and the interval of the report's table.
func plotDifferences(r *runs.Run) ([]drawing, error) {
	o, err := runs.OutcomeOf[runs.SweepOutcome](r)
	if o == nil || err != nil {
		return nil, err
	}
	d := &figure.Dots{Each: "difference of one seed"}
	var last *runs.CaseDifference
	intervals := 0
	for _, c := range o.Cases {
		if c.Difference == nil {
			continue
		}
		last = c.Difference
		row := differenceRow(o, c)
		if !math.IsNaN(row.Low) {
			intervals++
		}
		d.Rows = append(d.Rows, row)
	}
	if last == nil {
		return nil, nil
	}
	of, from := strings.ReplaceAll(o.Compared, "_", " "), document.Printable(last.From)
	d.Title = fmt.Sprintf("Difference in %s from %s, %s", of, from, r.Base())
	d.X = figure.Axis{Name: "difference in " + of, Unit: document.UnitPoints}
	d.Zero, d.Mean = "no difference from "+from, "mean"
	if intervals > 0 {
		d.Mean = "mean and interval"
	}
	d.Note = differencesNote(from, last.Level, intervals)
	return []drawing{{Figure: d}}, nil
}

// differenceRow has the paired differences of a case in points.
func differenceRow(o *runs.SweepOutcome, c *runs.CaseOutcome) figure.DotRow {
	row := figure.DotRow{Name: document.Printable(c.Name), Values: o.Differences(c), Mean: 100 * c.Difference.Mean,
		Low: math.NaN(), High: math.NaN()}
	if i := c.Difference.Interval(); i != nil {
		row.Low, row.High = 100*i.Low, 100*i.High
	}
	return row
}

// differencesNote explains the intervals.
func differencesNote(from string, level float64, intervals int) string {
	note := "Differences are paired by seed. "
	switch intervals {
	case 0:
		return note + "Too few seeds for intervals."
	case 1:
		note += "Interval: 95%, by Student's t-distribution."
	default:
		note += fmt.Sprintf("Intervals: the %d hold jointly with 95%%, each is a %.4g%% interval (Student's "+
			"t-distribution, Bonferroni).", intervals, 100*level)
	}
	return note + fmt.Sprintf(" A mean differs significantly from %s if its interval excludes zero.", from)
}
