package plot

import (
	"maps"
	"math"
	"path/filepath"
	"slices"

	"graft/internal/failure"
	"graft/report/figure"
	"graft/report/runs"
	"graft/results"
)

// withOutcome draws a figure of each run that has ended.
func withOutcome[T any](draw func(r *runs.Run, outcome *T) ([]drawing, error)) func([]*runs.Run) ([]drawing, error) {
	return single(func(r *runs.Run) ([]drawing, error) {
		o, err := runs.OutcomeOf[T](r)
		if o == nil || err != nil {
			return nil, err
		}
		return draw(r, o)
	})
}

// plotCompletions draws the distribution of completion times under each scheduler.
func plotCompletions(r *runs.Run, report *runs.ClusterOutcome) ([]drawing, error) {
	panel := figure.Panel{Y: figure.Axis{Name: "jobs that took no longer", Unit: "%", Low: 0, High: 100}}
	for _, c := range report.Cells {
		curve := figure.Curve{Name: c.Name(), Steps: true}
		for _, q := range c.CDF {
			curve.X, curve.Y = append(curve.X, math.Log10(max(1, q.Time))), append(curve.Y, 100*q.Share)
		}
		panel.Curves = append(panel.Curves, curve)
	}
	return []drawing{{Figure: &figure.Chart{Title: "Completion times of " + r.Base(),
		X: figure.Axis{Name: "completion time", Unit: "s", Powers: true}, Panels: []figure.Panel{panel},
		Note: "From submission to end. Times of less than a second count as one."}}}, nil
}

// plotClusterBars draws the mean completion time under each scheduler.
func plotClusterBars(r *runs.Run, report *runs.ClusterOutcome) ([]drawing, error) {
	b := &figure.Bars{Title: "Mean completion time of " + r.Base(),
		X: figure.Axis{Name: "mean completion time", Unit: "h", Zero: true}, Values: len(report.Cells) <= 8,
		Note: "From submission to end.", Lines: "The line is the 95% interval by a bootstrap over days of submission."}
	for _, c := range report.Cells {
		bar := figure.Bar{Value: runs.Value(c.Mean.Mean) / runs.SecondsOfHour}
		if c.Mean.Low != nil {
			bar.Low, bar.High = *c.Mean.Low/runs.SecondsOfHour, *c.Mean.High/runs.SecondsOfHour
		}
		b.Groups = append(b.Groups, figure.Group{Name: c.Name(), Bars: []figure.Bar{bar}})
	}
	return []drawing{{Figure: b}}, nil
}

// plotQueues draws the mean queueing time in each virtual cluster, under each scheduler.
func plotQueues(r *runs.Run, report *runs.ClusterOutcome) ([]drawing, error) {
	if len(report.Cells) == 0 {
		return nil, nil
	}
	b := &figure.Bars{Title: "Waiting by virtual cluster of " + r.Base(),
		X: figure.Axis{Name: "mean time of waiting", Unit: "h", Zero: true}}
	for _, c := range report.Cells {
		b.Names = append(b.Names, c.Name())
	}
	for k, p := range report.Cells[0].Pools {
		g := figure.Group{Name: p.Name}
		for _, c := range report.Cells {
			g.Bars = append(g.Bars, figure.Bar{Value: runs.Value(c.Pools[k].Queue.Mean) / runs.SecondsOfHour})
		}
		b.Groups = append(b.Groups, g)
	}
	return []drawing{{Figure: b}}, nil
}

// plotUsage draws used devices and queued jobs over time, if usage.csv was written.
func plotUsage(r *runs.Run, report *runs.ClusterOutcome) ([]drawing, error) {
	used, waiting := figure.Panel{Y: figure.Axis{Name: "GPUs with a job", Unit: "%", Low: 0, High: 100}},
		figure.Panel{Y: figure.Axis{Name: "waiting", Unit: "jobs", Zero: true}}
	for _, c := range report.Cells {
		u, err := readUsage(r, c.Name(), report.Begin)
		if runs.NotThere(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		used.Curves = append(used.Curves, figure.Curve{Name: c.Name(), X: u.days, Y: u.used, Steps: true})
		waiting.Curves = append(waiting.Curves, figure.Curve{Name: c.Name(), X: u.days, Y: u.waiting, Steps: true})
	}
	if len(used.Curves) == 0 {
		return nil, nil
	}
	return []drawing{{Figure: &figure.Chart{Title: "Use of " + r.Base() + " over time",
		X: figure.Axis{Name: "time since it began", Unit: "d"}, Panels: []figure.Panel{used, waiting}}}}, nil
}

// usageCurves holds the usage of a cluster over time.
type usageCurves struct{ days, used, waiting []float64 }

// readUsage sums the rows of all virtual clusters at each time that all of them have.
func readUsage(r *runs.Run, name string, begin int64) (*usageCurves, error) {
	sums, pools := map[int64]*usageSum{}, map[string]bool{}
	err := results.EachUsage(r.Files, filepath.Join(r.Path, name, results.UsageFile), func(row results.UsageRow) error {
		sum := sums[row.At]
		if sum == nil {
			sum = &usageSum{}
			sums[row.At] = sum
		}
		pools[row.Pool] = true
		*sum = usageSum{sum.pools + 1, sum.gpus + row.GPUs, sum.idle + row.Idle, sum.waiting + row.Waiting}
		return nil
	})
	if err != nil {
		return nil, failure.AsDamage(err)
	}
	maps.DeleteFunc(sums, func(_ int64, sum *usageSum) bool { return sum.pools < len(pools) })
	u := &usageCurves{}
	for _, at := range slices.Sorted(maps.Keys(sums)) {
		sum := sums[at]
		u.days = append(u.days, float64(at-begin)/runs.SecondsOfDay)
		u.used = append(u.used, 100*float64(sum.gpus-sum.idle)/float64(sum.gpus))
		u.waiting = append(u.waiting, float64(sum.waiting))
	}
	return u, nil
}

// usageSum holds the use of several virtual clusters at a second.
type usageSum struct {
	pools               int
	gpus, idle, waiting int64
}
