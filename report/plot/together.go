package plot

import (
	"fmt"
	"slices"

	"graft/internal/stat"
	"graft/report/figure"
	"graft/report/runs"
)

// plotThroughput draws throughput and overhead of completed jobs.
func plotThroughput(list []*runs.Run) ([]drawing, error) {
	ended := slices.DeleteFunc(slices.Clone(list), func(r *runs.Run) bool { return !r.Ended })
	if len(ended) == 0 {
		return nil, nil
	}
	groups, several := groupBySeed(ended), false
	called := groupNames(groups, fileNames(ended))
	const lines = "Lines: " + seedNote
	speed := &figure.Bars{Lines: lines, Title: "Throughput of jobs", Values: true, X: figure.Axis{Name: "throughput",
		Unit: "epochs/s", Zero: true}, Note: "Completed epochs over the used time of the budget."}
	over := &figure.Bars{Lines: lines, Title: "Overhead of jobs", X: figure.Axis{Name: "time", Unit: "s", Zero: true},
		Names: []string{"deciding", "operating", "saving"}, Note: "Deciding and operating use time of the budget. " +
			"Saving uses the machine's time, for all checkpoints of the process that ended the job."}
	for k, group := range groups {
		several = several || len(group) > 1
		name := called[k]
		speed.Groups = append(speed.Groups,
			figure.Group{Name: name, Bars: []figure.Bar{quantityBar(group, "epochs_per_second")}})
		over.Groups = append(over.Groups, figure.Group{Name: name, Bars: []figure.Bar{quantityBar(group, "deciding"),
			quantityBar(group, "operating"), quantityBar(group, "saving")}})
	}
	if several {
		const seeds = " Jobs that differ only in their seed are shown as their mean."
		speed.Note, over.Note = speed.Note+seeds, over.Note+seeds
	}
	speed.Note, over.Note = speed.Note+groupsNote(groups), over.Note+groupsNote(groups)
	return []drawing{{"epochs", speed}, {"overhead", over}}, nil
}

// quantityBar returns the mean of a quantity over runs that differ in their seed; empty if no run has it.
func quantityBar(group []*runs.Run, name string) figure.Bar {
	var values []float64
	var seeds []int64
	for k, seed := range seedsOf(group) {
		if v, known := group[k].Quantity(name); known {
			values, seeds = append(values, v), append(seeds, seed)
		}
	}
	if len(values) == 0 {
		return barOf(nil)
	}
	_, values = stat.MeansBySeed(seeds, values)
	return seedsBar(values, stat.FromZero)
}

// plotManyEpisodes draws accuracy and objective of policies of the original system over episodes. Runs
// that differ only in their seed are one curve.
func plotManyEpisodes(list []*runs.Run) ([]drawing, error) {
	groups, window, several := groupBySeed(list), 0, false
	called := groupNames(groups, fileNames(list))
	accuracy := figure.Panel{Y: shareAxis("accuracy")}
	objective := figure.Panel{Y: figure.Axis{Name: "objective"}, Height: 80}
	for k, group := range groups {
		e, err := commonEpisodes(group)
		if err != nil {
			return nil, err
		}
		if e == nil {
			continue // the exact gradient draws no episodes
		}
		several, window = several || len(group) > 1, max(window, smoothWindow(len(e.at)))
		accuracy.Curves = append(accuracy.Curves, e.curve(called[k], e.accuracy, stat.Percents))
		objective.Curves = append(objective.Curves, e.curve(called[k], e.objective, stat.Unbounded))
	}
	if len(accuracy.Curves) == 0 {
		return nil, nil
	}
	note := fmt.Sprintf("Means of up to %d episodes.", window)
	if several {
		note += " Faint: each seed. Line: their mean. Bands: " + seedNote + groupsNote(groups)
	} else {
		note += " Faint: each episode."
	}
	return []drawing{{Figure: &figure.Chart{Title: "Episodes of several policies", X: figure.Axis{Name: "episodes"},
		Panels: []figure.Panel{accuracy, objective}, Note: note}}}, nil
}

// episodeCurves holds the episodes that all seeds have.
type episodeCurves struct {
	at                  []float64
	accuracy, objective [][]float64 // per seed
}

// commonEpisodes reads the common episodes of runs; nil if there are none.
func commonEpisodes(group []*runs.Run) (*episodeCurves, error) {
	e := &episodeCurves{}
	for _, r := range group {
		list, err := r.Series()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Path, err)
		}
		rows, err := NumbersOf(list, "episodes", "episode", "accuracy", "objective")
		if err != nil {
			return nil, nil
		}
		if e.at == nil || len(rows["episode"]) < len(e.at) {
			e.at = rows["episode"]
		}
		e.accuracy, e.objective = append(e.accuracy, inPercent(rows["accuracy"])),
			append(e.objective, rows["objective"])
	}
	for _, curves := range []*[][]float64{&e.accuracy, &e.objective} {
		for k := range *curves {
			(*curves)[k] = (*curves)[k][:len(e.at)]
		}
		*curves = meanCurves(seedsOf(group), *curves)
	}
	return e, nil
}

// curve returns the rolling mean of a single seed, or the mean over several seeds.
func (e *episodeCurves) curve(name string, runs [][]float64, of stat.Range) figure.Curve {
	if len(runs) == 1 {
		return smoothed(name, e.at, runs[0])
	}
	smooth := make([][]float64, len(runs))
	for k, values := range runs {
		smooth[k] = rolling(values, smoothWindow(len(values)))
	}
	return seedsCurve(name, e.at, smooth, of)
}
