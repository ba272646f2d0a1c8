package plot

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"graft/results/failure"
	"graft/results/figure"
	"graft/results/runs"
)

// plotCompletions draws the distribution of completion times under each scheduler: the
// share of jobs that took no longer than a time.
func plotCompletions(r *runs.Run) ([]plotted, error) {
	report, err := runs.ReadCluster(r)
	if report == nil || err != nil {
		return nil, err
	}
	panel := figure.Panel{Y: figure.Axis{Name: "jobs that took no longer", Unit: "%", Low: 0, High: 100}}
	for _, c := range report.Cells {
		curve := figure.Curve{Name: c.Name(), Steps: true}
		for _, q := range c.CDF {
			curve.X, curve.Y = append(curve.X, math.Log10(max(1, q.Time))), append(curve.Y, 100*q.Share)
		}
		panel.Curves = append(panel.Curves, curve)
	}
	return []plotted{{Figure: &figure.Chart{Title: "Completion times of " + r.Base(), X: figure.Axis{Name: "completion time", Unit: "s", Powers: true}, Panels: []figure.Panel{panel},
		Note: "From submission to end. Times of less than a second count as one."}}}, nil
}

// plotClusterBars draws the mean completion time under each scheduler, of all jobs and by
// size.
func plotClusterBars(r *runs.Run) ([]plotted, error) {
	report, err := runs.ReadCluster(r)
	if report == nil || err != nil {
		return nil, err
	}
	b := &figure.Bars{Title: "Mean completion time of " + r.Base(), X: figure.Axis{Name: "mean completion time", Unit: "h", Zero: true}, Values: len(report.Cells) <= 8,
		Note: "From submission to end. The line is the 95% interval by a bootstrap over days of submission."}
	for _, c := range report.Cells {
		bar := figure.Bar{Value: runs.Value(c.Mean.Mean) / runs.SecondsOfHour}
		if c.Mean.Low != nil {
			bar.Low, bar.High = *c.Mean.Low/runs.SecondsOfHour, *c.Mean.High/runs.SecondsOfHour
		}
		b.Groups = append(b.Groups, figure.Group{Name: c.Name(), Bars: []figure.Bar{bar}})
	}
	return []plotted{{Figure: b}}, nil
}

// plotQueues draws how long jobs wait in each virtual cluster, under each scheduler.
func plotQueues(r *runs.Run) ([]plotted, error) {
	report, err := runs.ReadCluster(r)
	if report == nil || err != nil || len(report.Cells) == 0 {
		return nil, err
	}
	b := &figure.Bars{Title: "Waiting by virtual cluster of " + r.Base(), X: figure.Axis{Name: "mean time of waiting", Unit: "h", Zero: true}}
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
	return []plotted{{Figure: b}}, nil
}

// plotUsage draws how many devices were used and how many jobs waited over time, where that
// was written.
func plotUsage(r *runs.Run) ([]plotted, error) {
	report, err := runs.ReadCluster(r)
	if report == nil || err != nil {
		return nil, err
	}
	used, waiting := figure.Panel{Y: figure.Axis{Name: "GPUs with a job", Unit: "%", Low: 0, High: 100}}, figure.Panel{Y: figure.Axis{Name: "waiting", Unit: "jobs", Zero: true}}
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
	return []plotted{{Figure: &figure.Chart{Title: "Use of " + r.Base() + " over time", X: figure.Axis{Name: "time since it began", Unit: "d"}, Panels: []figure.Panel{used, waiting}}}}, nil
}

// usageCurves is how a cluster was used over time.
type usageCurves struct{ days, used, waiting []float64 }

// readUsage adds up the rows of all virtual clusters, up to the first that has no more.
func readUsage(r *runs.Run, name string, begin int64) (*usageCurves, error) {
	path := filepath.Join(r.Path, name, "usage.csv")
	f, err := r.Fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sums := map[int64]*[4]float64{} // devices, idle ones, jobs that wait, rows
	rows := csv.NewReader(f)
	rows.ReuseRecord = true
	pools := map[string]bool{}
	for line := 0; ; line++ {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, failure.AsDamage(fmt.Errorf("read %s: %w", path, err))
		}
		if line == 0 {
			continue
		}
		pools[row[0]] = true
		if err := addUsage(sums, row); err != nil {
			return nil, failure.AsDamage(fmt.Errorf("read %s:%d: %w", path, line+1, err))
		}
	}
	return usageOf(sums, len(pools), begin), nil
}

// addUsage adds a row: virtual cluster, second, devices, idle ones, running and waiting jobs.
func addUsage(sums map[int64]*[4]float64, row []string) error {
	if len(row) < 6 {
		return errors.New("it has fewer than six columns")
	}
	at, err := strconv.ParseInt(row[1], 10, 64)
	if err != nil {
		return err
	}
	sum := sums[at]
	if sum == nil {
		sum = &[4]float64{}
		sums[at] = sum
	}
	sum[3]++
	for k, column := range []int{2, 3, 5} {
		x, err := strconv.ParseFloat(row[column], 64)
		if err != nil {
			return err
		}
		sum[k] += x
	}
	return nil
}

func usageOf(sums map[int64]*[4]float64, pools int, begin int64) *usageCurves {
	var times []int64
	for at, sum := range sums {
		if int(sum[3]) == pools {
			times = append(times, at)
		}
	}
	slices.Sort(times)
	u := &usageCurves{}
	for _, at := range times {
		sum := sums[at]
		u.days = append(u.days, float64(at-begin)/runs.SecondsOfDay)
		u.used = append(u.used, 100*(sum[0]-sum[1])/sum[0])
		u.waiting = append(u.waiting, sum[2])
	}
	return u
}
