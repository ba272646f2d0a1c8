package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"graft/internal/stat"
	"graft/internal/words"
	"graft/report/figure"
	"graft/report/runs"
)

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// groupBySeed groups runs that differ only in their seed, in order of first appearance. It omits copies of runs.
func groupBySeed(list []*runs.Run) (groups [][]*runs.Run) {
	for _, g := range runs.SeedGroups(list) {
		groups = append(groups, g.Runs)
	}
	return groups
}

// seedsOf returns a seed for each run of a group. Runs without seeds get different numbers.
func seedsOf(group []*runs.Run) (seeds []int64) {
	for k, r := range group {
		if r.Seeded {
			seeds = append(seeds, int64(r.Manifest.Seed))
		} else {
			seeds = append(seeds, int64(k))
		}
	}
	return seeds
}

// countSeeds returns the number of different seeds of a group.
func countSeeds(group []*runs.Run) int {
	seeds := seedsOf(group)
	slices.Sort(seeds)
	return len(slices.Compact(seeds))
}

// meanCurves returns a curve per seed: the mean of the curves with this seed. All curves have the same points.
func meanCurves(seeds []int64, curves [][]float64) (means [][]float64) {
	for point := range curves[0] {
		var values []float64
		for _, c := range curves {
			values = append(values, c[point])
		}
		order, of := stat.MeansBySeed(seeds, values)
		if means == nil {
			means = make([][]float64, len(order))
		}
		for k, v := range of {
			means[k] = append(means[k], v)
		}
	}
	return means
}

// groupsNote explains repetitions of seeds, and wall clocks of several machines; empty if there are none.
func groupsNote(groups [][]*runs.Run) (note string) {
	if slices.ContainsFunc(groups, func(g []*runs.Run) bool { return countSeeds(g) < len(g) }) {
		note = " Runs with the same seed count as one value, their mean."
	}
	all := runs.SeedGroup{Runs: slices.Concat(groups...)}
	if n := len(all.Machines()); n > 1 {
		note += fmt.Sprintf(" Runs on the wall clock are from %d machines, which may have different speeds.", n)
	}
	return note
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
			short[k] = fmt.Sprintf("%s and %s", first, moreRuns(group))
		default:
			short[k] += ", " + seedCount(group)
		}
	}
	return short
}

// seedCount returns the number of seeds of a group and, if seeds have repetitions, the number of runs.
func seedCount(group []*runs.Run) string {
	n := countSeeds(group)
	if n == len(group) {
		return words.Plural(n, "seed")
	}
	return fmt.Sprintf("%s of %s", words.Plural(len(group), "run"), words.Plural(n, "seed"))
}

// moreRuns counts the runs of a group after the first: as seeds, unless seeds have repetitions.
func moreRuns(group []*runs.Run) string {
	if countSeeds(group) == len(group) {
		return words.Plural(len(group)-1, "more seed")
	}
	return words.Plural(len(group)-1, "more run")
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
		curve := seedsCurve(called[k], x, meanCurves(seedsOf(group), each), stat.Percents)
		curve.Raw = each
		panel.Curves = append(panel.Curves, curve)
	}
	note := strings.TrimSpace(groupsNote(groups))
	if several {
		note = "Runs that differ only in their seed are one curve. Faint: each run. Line: their mean. Bands: " +
			seedNote + groupsNote(groups)
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
