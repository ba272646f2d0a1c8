package plot

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"graft/internal/stat"
	"graft/report/document"
	"graft/report/figure"
	"graft/report/runs"
)

// maxCases is the maximum number of cases with a curve each.
const maxCases = 8

// sweepNote explains the intervals.
const sweepNote = seedNote + " Each interval is for one case alone."

// sampleBar returns a summary in percent.
func sampleBar(s *runs.MeasureSummary) figure.Bar {
	if s == nil {
		return figure.Bar{Value: math.NaN()}
	}
	bar := figure.Bar{Value: 100 * s.Mean}
	if s.Low != nil {
		bar.Low, bar.High = 100**s.Low, 100**s.High
	}
	return bar
}

// measureTitle is the name of a measure as a title.
func measureTitle(name string) string {
	return document.Capitalized(strings.ReplaceAll(name, "_", " "))
}

// plotCases draws the final accuracy of each case with its interval.
func plotCases(r *runs.Run) ([]drawing, error) {
	o, err := runs.OutcomeOf[runs.SweepOutcome](r)
	if o == nil || err != nil {
		return nil, err
	}
	b := &figure.Bars{Title: measureTitle(o.Compared) + " of " + r.Base(), Values: true,
		X: shareAxis(strings.ReplaceAll(o.Compared, "_", " ")), Note: "Lines: " + sweepNote}
	for _, c := range o.Cases {
		b.Groups = append(b.Groups, figure.Group{Name: document.Printable(c.Name),
			Bars: []figure.Bar{sampleBar(c.Summary(o.Compared))}})
	}
	return []drawing{{Figure: b}}, nil
}

// costMeasures are the measures of cost; the first one that trials have is used.
var costMeasures = []struct {
	name string
	axis figure.Axis
}{
	{"flop", figure.Axis{Name: "training operations", Unit: document.UnitGFLOP}},
	{"device_time", figure.Axis{Name: "device time", Unit: "s"}},
	{"parameters", figure.Axis{Name: "final parameters"}},
}

// plotCost draws the accuracy of each arm of a comparison against its cost, with a mark per arm.
func plotCost(r *runs.Run) ([]drawing, error) {
	o, err := runs.OutcomeOf[runs.SweepOutcome](r)
	if o == nil || o.Comparison == nil || err != nil {
		return nil, err
	}
	for _, cost := range costMeasures {
		if curves, axis, spread := costCurves(o, cost.name, cost.axis); spread {
			return []drawing{{Figure: &figure.Chart{Title: "Accuracy and cost of " + r.Base(),
				X: axis, Note: "Marks: mean of each arm's trials. Lines: " +
					sweepNote + " Arms of equal cost are drawn side by side.",
				Panels: []figure.Panel{{Y: shareAxis(strings.ReplaceAll(o.Compared, "_", " ")), Curves: curves}}}}}, nil
		}
	}
	return nil, nil
}

// costCurves has a point per arm; spread is false if arms lack the measure or all have the same cost.
func costCurves(o *runs.SweepOutcome, measure string, axis figure.Axis) (curves []figure.Curve, padded figure.Axis,
	spread bool) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range o.Cases {
		cost, accuracy := c.Summary(measure), c.Summary(o.Compared)
		if cost == nil || accuracy == nil {
			return nil, axis, false
		}
		low, high = min(low, cost.Mean), max(high, cost.Mean)
		bar := sampleBar(accuracy)
		curve := figure.Curve{Name: document.Printable(c.Name), X: []float64{cost.Mean}, Y: []float64{bar.Value}}
		if bar.Low != bar.High {
			curve.Low, curve.High = []float64{bar.Low}, []float64{bar.High}
		}
		curves = append(curves, curve)
	}
	if high-low <= 0.01*high {
		return nil, axis, false
	}
	aside(curves, (high-low)/50)
	axis.Low, axis.High = low-(high-low)/10, high+(high-low)/10
	return curves, axis, true
}

// aside moves points of equal cost apart, so that their intervals are visible.
func aside(curves []figure.Curve, step float64) {
	for k := range curves {
		for moved := true; moved; {
			moved = false
			for j := range k {
				if math.Abs(curves[j].X[0]-curves[k].X[0]) < step*0.99 {
					curves[k].X[0], moved = curves[j].X[0]+step, true
				}
			}
		}
	}
}

// plotTrials draws the mean accuracy of each case over time, with its interval over seeds.
func plotTrials(r *runs.Run) ([]drawing, error) {
	plan, err := runs.ReadSweepPlan(r.Files, r.Path)
	if err != nil {
		return nil, err
	}
	o, err := runs.OutcomeOf[runs.SweepOutcome](r)
	if err != nil {
		return nil, err
	}
	panel := figure.Panel{Y: shareAxis("validation accuracy")}
	note := "Lines: means over seeds. Bands: " + sweepNote
	for k, c := range plan.Reported() {
		if k == maxCases {
			note += fmt.Sprintf(" Only the first %d cases are shown.", maxCases)
			break
		}
		if curve := caseCurve(r, c.Name, trialFolders(o, c)); len(curve.X) > 0 {
			panel.Curves = append(panel.Curves, curve)
		}
	}
	if len(panel.Curves) == 0 {
		return nil, nil
	}
	return []drawing{{Figure: &figure.Chart{Title: "Accuracy over time of " + r.Base(), X: budgetAxis,
		Panels: []figure.Panel{panel}, Note: note}}}, nil
}

// trialFolders lists the run folders of a case's trials, in the folder of the sweep; the outcome is nil before the end.
func trialFolders(o *runs.SweepOutcome, c *runs.SweepCase) (folders []string) {
	if o != nil && o.Case(c.Name) != nil {
		for _, t := range o.Case(c.Name).Trials {
			folders = append(folders, t.Folder)
		}
		return folders
	}
	for _, seed := range c.Seeds {
		folders = append(folders, runs.SweepTrial{Case: c, Seed: seed}.Folder())
	}
	return folders
}

// caseCurve averages the trials in the folders that have epochs.
func caseCurve(r *runs.Run, name string, folders []string) figure.Curve {
	var times, values [][]float64
	end := 0.0
	for _, folder := range folders {
		trial, err := r.OpenPart(filepath.Join(r.Path, folder))
		if err != nil { // it has not started
			continue
		}
		if rows, err := jobColumns(trial); err == nil {
			times, values = append(times, rows["time"]), append(values, inPercent(rows["validation_accuracy"]))
			end = max(end, rows["time"][len(rows["time"])-1])
		}
	}
	if len(times) == 0 {
		return figure.Curve{}
	}
	grid, each := make([]float64, gridPoints), [][]float64{}
	for k := range grid {
		grid[k] = end * float64(k+1) / gridPoints
	}
	for k := range times {
		each = append(each, interpolate(grid, times[k], values[k]))
	}
	x, each := commonTimes(grid, each)
	curve := figure.Curve{Name: document.Printable(name), X: x}
	curve.Y, curve.Low, curve.High = meanInterval(each, stat.Percents)
	return curve
}
