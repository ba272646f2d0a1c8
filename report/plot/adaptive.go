package plot

import (
	"math"
	"path/filepath"
	"slices"

	"graft/report/figure"
	"graft/report/runs"
)

// plotAdaptiveCompletions draws the distribution of completion times under each scheduler, of the jobs of all
// workloads and seeds.
func plotAdaptiveCompletions(r *runs.Run, o *runs.AdaptiveOutcome) ([]drawing, error) {
	panel := figure.Panel{Y: figure.Axis{Name: "jobs that took no longer", Unit: "%", Low: 0, High: 100}}
	times, names := map[string][]float64{}, []string{}
	for k := range o.Cells {
		c := &o.Cells[k]
		jobs, err := runs.Numbers(r, o.CellFolder(c), runs.AdaptiveJobsFile, "jct_s")
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, c.Scheduler) {
			names = append(names, c.Scheduler)
		}
		times[c.Scheduler] = append(times[c.Scheduler], jobs["jct_s"]...)
	}
	for _, name := range names {
		panel.Curves = append(panel.Curves, distribution(name, times[name]))
	}
	return []drawing{{Figure: &figure.Chart{Title: "Completion times of " + r.Base(),
		X: figure.Axis{Name: "completion time", Unit: "s"}, Panels: []figure.Panel{panel},
		Note: "From submission to the end of a job."}}}, nil
}

// roundPanels are the quantities of rounds that are drawn over time.
var roundPanels = []struct {
	axis figure.Axis
	of   func(s map[string][]float64, k int) float64
}{
	{figure.Axis{Name: "in use", Unit: "devices", Zero: true}, func(s map[string][]float64, k int) float64 {
		return s["devices"][k]
	}},
	{figure.Axis{Name: "unfinished", Unit: "jobs", Zero: true}, func(s map[string][]float64, k int) float64 {
		return s["unfinished_jobs"][k]
	}},
	{figure.Axis{Name: "devices", Unit: "per job", Zero: true}, func(s map[string][]float64, k int) float64 {
		if s["running_jobs"][k] == 0 {
			return math.NaN()
		}
		return s["devices"][k] / s["running_jobs"][k]
	}},
}

// plotAdaptiveAllocations draws what each scheduler allocates over time, on the first workload.
func plotAdaptiveAllocations(r *runs.Run, o *runs.AdaptiveOutcome) ([]drawing, error) {
	chart := &figure.Chart{Title: "Allocations of " + r.Base() + " over time", X: figure.Axis{Name: "time", Unit: "s"},
		Note: "Jobs of " + o.Workloads[0] + ". Devices per job are means over the jobs that have any."}
	for _, p := range roundPanels {
		chart.Panels = append(chart.Panels, figure.Panel{Y: p.axis, Height: 80})
	}
	for k := range o.Cells {
		c := &o.Cells[k]
		if c.Workload != o.Workloads[0] {
			continue
		}
		rounds, err := runs.Numbers(r, o.CellFolder(c), runs.AdaptiveRoundsFile, "time_s", "unfinished_jobs",
			"running_jobs", "devices")
		if err != nil {
			return nil, err
		}
		for k, p := range roundPanels {
			curve := figure.Curve{Name: filepath.Base(o.CellFolder(c)), Steps: true, X: rounds["time_s"]}
			for at := range rounds["time_s"] {
				curve.Y = append(curve.Y, p.of(rounds, at))
			}
			chart.Panels[k].Curves = append(chart.Panels[k].Curves, curve)
		}
	}
	return []drawing{{Figure: chart}}, nil
}
