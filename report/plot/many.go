package plot

import (
	"fmt"
	"math"
	"slices"
	"time"

	"graft/internal/stat"
	"graft/report/figure"
	"graft/report/runs"
)

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// groupBySeed groups runs that differ only in their seed, in order of first appearance.
func groupBySeed(list []*runs.Run) [][]*runs.Run {
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

// groupNames names groups of runs by the common part of their names, if no other group has the same name.
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

// gridPoints is the number of times at which runs with different epochs are compared.
const gridPoints = 150

// plotAccuracy draws the validation accuracy of several jobs over time or another cost.
func (g Given) plotAccuracy(list []*runs.Run) ([]drawing, error) {
	names, end, cost, axis := fileNames(list), 0.0, costOf(g.X), figure.Axis{}
	times, values := map[*runs.Run][]float64{}, map[*runs.Run][]float64{}
	var all [][]float64
	for _, r := range list {
		c, err := jobColumns(r, cost.column)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Path, err)
		}
		times[r], values[r] = c[cost.column], inPercent(c["validation_accuracy"])
		all = append(all, times[r])
	}
	for _, r := range list {
		axis, times[r] = cost.scaled(times[r], all...)
		end = max(end, times[r][len(times[r])-1])
	}
	grid := make([]float64, gridPoints)
	for k := range grid {
		grid[k] = end * float64(k+1) / gridPoints
	}
	panel := figure.Panel{Y: shareAxis("validation accuracy")}
	several, groups := false, groupBySeed(list)
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
			each = append(each, interpolate(grid, times[r], values[r]))
		}
		x, each := commonTimes(grid, each)
		panel.Curves = append(panel.Curves, seedsCurve(called[k], x, each, stat.Percents))
	}
	note := ""
	if several {
		note = "Runs that differ only in their seed are one curve. Faint: each run. Line: their mean. Bands: " +
			seedNote
	}
	return []drawing{{Figure: &figure.Chart{Title: "Accuracy of several jobs", X: axis, Panels: []figure.Panel{panel},
		Note: note}}}, nil
}

// interpolate interpolates measurements linearly on a grid; NaN before the first and after the last.
func interpolate(grid, at, values []float64) []float64 {
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

// commonTimes drops the times at which a run has no value, so that means are over the same runs.
func commonTimes(grid []float64, runs [][]float64) (x []float64, kept [][]float64) {
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
