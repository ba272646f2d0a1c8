package plot

import (
	"math"
	"slices"

	"graft/report/figure"
	"graft/report/runs"
)

// plotElasticCompletions draws the distribution of completion times under each scheduler.
func plotElasticCompletions(r *runs.Run, o *runs.ElasticOutcome) ([]drawing, error) {
	panel := figure.Panel{Y: figure.Axis{Name: "jobs that took no longer", Unit: "%", Low: 0, High: 100}}
	for _, c := range o.Cells {
		jobs, err := runs.ElasticNumbers(r, c.Scheduler, runs.ElasticJobsFile, "jct_slots")
		if err != nil {
			return nil, err
		}
		panel.Curves = append(panel.Curves, distribution(c.Scheduler, jobs["jct_slots"]))
	}
	return []drawing{{Figure: &figure.Chart{Title: "Completion times of " + r.Base(),
		X: figure.Axis{Name: "completion time", Unit: "slots"}, Panels: []figure.Panel{panel},
		Note: "From the beginning of the slot of arrival to completion."}}}, nil
}

// distribution is the share of times that are no longer, in percent.
func distribution(name string, times []float64) figure.Curve {
	curve := figure.Curve{Name: name, Steps: true, X: []float64{0}, Y: []float64{0}}
	for k, t := range slices.Sorted(slices.Values(times)) {
		curve.X, curve.Y = append(curve.X, t), append(curve.Y, 100*float64(k+1)/float64(len(times)))
	}
	return curve
}

// slotPanels are the quantities of slots that are drawn over time.
var slotPanels = []struct {
	axis figure.Axis
	of   func(s map[string][]float64, k int) float64
}{
	{figure.Axis{Name: "GPU slots in use", Unit: "%", Low: 0, High: 100},
		func(s map[string][]float64, k int) float64 { return 100 * s["gpu_share"][k] }},
	{figure.Axis{Name: "unfinished", Unit: "jobs", Zero: true}, func(s map[string][]float64, k int) float64 {
		return s["unfinished_jobs"][k]
	}},
	{figure.Axis{Name: "workers", Unit: "per job", Zero: true}, perRunningJob("workers")},
	{figure.Axis{Name: "servers", Unit: "per job", Zero: true}, perRunningJob("servers")},
}

// perRunningJob divides a quantity by the number of jobs with tasks; NaN without any.
func perRunningJob(column string) func(s map[string][]float64, k int) float64 {
	return func(s map[string][]float64, k int) float64 {
		if s["running_jobs"][k] == 0 {
			return math.NaN()
		}
		return s[column][k] / s["running_jobs"][k]
	}
}

// plotAllocations draws what each scheduler allocates in each slot; runs without the tables of slots
// have no figure.
func plotAllocations(r *runs.Run, o *runs.ElasticOutcome) ([]drawing, error) {
	chart := &figure.Chart{Title: "Allocations of " + r.Base() + " over time",
		X: figure.Axis{Name: "time", Unit: "slots"}, Note: "Workers and servers are means over the jobs that have any."}
	for _, p := range slotPanels {
		chart.Panels = append(chart.Panels, figure.Panel{Y: p.axis, Height: 80})
	}
	for _, c := range o.Cells {
		slots, err := runs.ElasticNumbers(r, c.Scheduler, runs.ElasticSlotsFile, "slot", "unfinished_jobs",
			"running_jobs", "workers", "servers", "gpu_share")
		if runs.NotThere(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for k, p := range slotPanels {
			curve := figure.Curve{Name: c.Scheduler, Steps: true}
			for at, slot := range slots["slot"] {
				value := p.of(slots, at)
				curve.X, curve.Y = append(curve.X, slot, slot+1), append(curve.Y, value, value)
			}
			chart.Panels[k].Curves = append(chart.Panels[k].Curves, curve)
		}
	}
	return []drawing{{Figure: chart}}, nil
}
