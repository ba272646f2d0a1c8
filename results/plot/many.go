package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"graft/results/document"
	"graft/results/figure"
	"graft/results/runs"
)

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// alike puts runs together that differ in their seed alone, in the order of the first
// of each.
func alike(list []*runs.Run) [][]*runs.Run {
	var groups [][]*runs.Run
	same := func(a, b *runs.Run) bool { return slices.Equal(a.Material(), b.Material()) }
	for _, r := range list {
		k := slices.IndexFunc(groups, func(g []*runs.Run) bool { return same(g[0], r) })
		if k < 0 {
			groups = append(groups, nil)
			k = len(groups) - 1
		}
		groups[k] = append(groups[k], r)
	}
	return groups
}

// groupNames are what curves of runs are called: those that differ in their seed by what
// their names have in common, where that is theirs alone.
func groupNames(groups [][]*runs.Run, names map[*runs.Run]string) []string {
	short, counts := make([]string, len(groups)), map[string]int{}
	for k, group := range groups {
		short[k] = names[group[0]]
		if len(group) > 1 {
			paths := make([]string, len(group))
			for at, r := range group {
				paths[at] = names[r]
			}
			short[k] = runs.CommonName(paths)
		}
		counts[short[k]]++
	}
	for k, group := range groups {
		switch first := names[group[0]]; {
		case len(group) == 1:
		case short[k] == first || counts[short[k]] > 1:
			short[k] = fmt.Sprintf("%s and %d more seeds", first, len(group)-1)
		default:
			short[k] = fmt.Sprintf("%s, %d seeds", short[k], len(group))
		}
	}
	return short
}

// gridPoints is at how many times runs are compared that were measured at others.
const gridPoints = 150

// plotAccuracy draws the validation accuracy of several jobs.
func plotAccuracy(list []*runs.Run) ([]plotted, error) {
	names, end := plotNames(list), 0.0
	times, values := map[*runs.Run][]float64{}, map[*runs.Run][]float64{}
	for _, r := range list {
		c, err := jobColumns(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Path, err)
		}
		times[r], values[r] = c["time"], inPercent(c["validation_accuracy"])
		end = max(end, c["time"][len(c["time"])-1])
	}
	grid := make([]float64, gridPoints)
	for k := range grid {
		grid[k] = end * float64(k+1) / gridPoints
	}
	panel := figure.Panel{Y: figure.Axis{Name: "validation accuracy", Unit: "%"}}
	several, groups := false, alike(list)
	called := groupNames(groups, names)
	for k, group := range groups {
		if len(group) == 1 {
			r := group[0]
			panel.Curves = append(panel.Curves, figure.Curve{Name: names[r], X: times[r], Y: values[r]})
			continue
		}
		several = true
		var each [][]float64
		for _, r := range group {
			each = append(each, onGrid(grid, times[r], values[r]))
		}
		x, each := measuredByAll(grid, each)
		panel.Curves = append(panel.Curves, seedsCurve(called[k], x, each))
	}
	note := ""
	if several {
		note = "Runs that differ in their seed alone are one curve: each faint, their mean, and its 95% interval by a bootstrap over them."
	}
	return []plotted{{Figure: &figure.Chart{Title: "Accuracy of several jobs", X: budgetAxis, Panels: []figure.Panel{panel}, Note: note}}}, nil
}

// onGrid is what was measured, as straight lines between the measurements say it; none
// before the first, nor after the last.
func onGrid(grid, at, values []float64) []float64 {
	out := make([]float64, len(grid))
	next := 0
	for k, t := range grid {
		for next < len(at) && at[next] <= t {
			next++
		}
		switch {
		case next == 0 || t > at[len(at)-1]+grid[0]:
			out[k] = math.NaN()
		case next == len(at):
			out[k] = values[next-1]
		default:
			part := (t - at[next-1]) / (at[next] - at[next-1])
			out[k] = values[next-1] + part*(values[next]-values[next-1])
		}
	}
	return out
}

// measuredByAll leaves the times out at which a run has no value: the mean of others
// would be of something else.
func measuredByAll(grid []float64, runs [][]float64) (x []float64, kept [][]float64) {
	kept = make([][]float64, len(runs))
	for k, t := range grid {
		if slices.ContainsFunc(runs, func(r []float64) bool { return math.IsNaN(r[k]) }) {
			continue
		}
		x = append(x, t)
		for s := range runs {
			kept[s] = append(kept[s], runs[s][k])
		}
	}
	return x, kept
}

// progressOf is how good a learning run was over its steps, the same for each of its
// seeds; up says that more is better.
type progressOf struct {
	name  string
	steps []float64
	runs  [][]float64
	mean  []float64
}

// plotTransfer draws learning runs of one kind together; those that differ in their seed
// are one. The first is what the others are held against: how much better they are from
// the start, and when they reach the threshold, which is what the first has in the end
// unless another was given.
func (g Given) plotTransfer(list []*runs.Run) ([]plotted, error) {
	names := plotNames(list)
	var all []progressOf
	groups := alike(list)
	called := groupNames(groups, names)
	for k, group := range groups {
		p, err := progressTogether(group, called[k])
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if len(all) < 2 {
		return nil, nil // seeds of one way to learn: there is nothing that it could be held against
	}
	axis, up := figure.Axis{Name: "expected accuracy", Unit: "%"}, true
	x := figure.Axis{Name: "episodes"}
	if list[0].Kind == runs.PoliciesKind {
		axis, up, x = figure.Axis{Name: "regret", Unit: "points", Zero: true}, false, figure.Axis{Name: "steps"}
	}
	threshold := all[0].mean[len(all[0].mean)-1]
	said := fmt.Sprintf("Threshold: %s %s, what %s has in the end.", document.Short(threshold), axis.Unit, all[0].name)
	if g.Threshold != nil {
		threshold = *g.Threshold
		said = fmt.Sprintf("Threshold: %s %s, as given.", document.Short(threshold), axis.Unit)
	}
	panel := figure.Panel{Y: axis, Levels: []figure.Level{{Name: "threshold", At: threshold}}}
	lines := []string{said}
	for k, p := range all {
		panel.Curves = append(panel.Curves, seedsCurve(p.name, p.steps, p.runs))
		text := p.name + ":"
		if k > 0 {
			text += strings.Replace(fmt.Sprintf(" %+.2f points of jump-start,", jumpStart(all[0], p, up)), " -", " −", 1)
		}
		lines = append(lines, text+" "+reached(p, threshold, up, x.Name)+".")
	}
	return []plotted{{Figure: &figure.Chart{Title: "Transfer", X: x, Panels: []figure.Panel{panel}, Note: strings.Join(lines, " ")}}}, nil
}

// progressTogether reads how good runs were that differ in their seed, at the steps that
// all of them have.
func progressTogether(group []*runs.Run, name string) (all progressOf, err error) {
	for k, r := range group {
		p, err := progress(r, name)
		if err != nil {
			return all, fmt.Errorf("%s: %w", r.Path, err)
		}
		if k == 0 {
			all = p
			continue
		}
		shared := 0
		for shared < min(len(all.steps), len(p.steps)) && all.steps[shared] == p.steps[shared] {
			shared++
		}
		if shared == 0 {
			return all, fmt.Errorf("%s: its rows are at other steps than those of %s, which differs in its seed alone", r.Path, group[0].Path)
		}
		all.steps, all.runs = all.steps[:shared], append(all.runs, p.runs...)
		for at := range all.runs {
			all.runs[at] = all.runs[at][:shared]
		}
	}
	all.mean, _, _ = banded(all.runs)
	return all, nil
}

// progress reads how good a run was.
func progress(r *runs.Run, name string) (p progressOf, err error) {
	list, err := r.Series()
	if err != nil {
		return p, err
	}
	p.name = name
	if r.Kind == runs.PoliciesKind {
		all, err := pupilsOf(list)
		if err != nil {
			return p, err
		}
		p.steps, p.runs = all.steps, all.of["regret"]
	} else {
		rows, err := NumbersOf(list, "learning", "episodes", "expected_accuracy")
		if err != nil {
			return p, err
		}
		p.steps, p.runs = rows["episodes"], [][]float64{inPercent(rows["expected_accuracy"])}
	}
	p.mean, _, _ = banded(p.runs)
	return p, nil
}

// jumpStart is how much better a run is at its first row than another.
func jumpStart(from, to progressOf, up bool) float64 {
	if up {
		return to.mean[0] - from.mean[0]
	}
	return from.mean[0] - to.mean[0]
}

// reached says when a run is first as good as a threshold.
func reached(p progressOf, threshold float64, up bool, unit string) string {
	for k, v := range p.mean {
		if up && v >= threshold || !up && v <= threshold {
			return fmt.Sprintf("at the threshold after %s %s", document.Short(p.steps[k]), unit)
		}
	}
	return fmt.Sprintf("not at the threshold within %s %s", document.Short(p.steps[len(p.steps)-1]), unit)
}
