package plot

import (
	"slices"

	"graft/report/figure"
	"graft/report/runs"
)

// plotBatch draws the batch of a job and its efficiency; nothing if the noise of gradients was not measured.
func plotBatch(r *runs.Run) ([]drawing, error) {
	list, err := r.Series()
	if err != nil {
		return nil, err
	}
	c, err := NumbersOf(list, "epochs", "time", "batch", "throughput", "efficiency", "goodput")
	if err != nil || slices.Max(c["efficiency"]) <= 0 {
		return nil, nil // also for a run of an older graft
	}
	x := c["time"]
	return []drawing{{Figure: &figure.Chart{Title: "Batch and goodput of " + r.Base(), X: budgetAxis,
		Panels: []figure.Panel{
			{Y: figure.Axis{Name: "speed", Unit: "images/s", Zero: true},
				Curves: []figure.Curve{{Name: "throughput", X: x,
					Y: c["throughput"]}, {Name: "goodput", X: x, Y: c["goodput"]}}},
			{Y: shareAxis("efficiency"), Height: 45, Curves: []figure.Curve{{X: x, Y: inPercent(c["efficiency"])}}},
			{Y: figure.Axis{Name: "batch", Unit: "images", Zero: true, Whole: true}, Height: 45,
				Curves: []figure.Curve{{X: x, Y: c["batch"], Steps: true}}},
		}}}}, nil
}
