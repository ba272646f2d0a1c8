package main

import (
	"fmt"
	"slices"

	"graft/results/figure"
	"graft/stat"
)

// plotted is a figure of runs.
type plotted struct {
	name   string // tells it from others of its kind; empty where there is one
	figure figure.Figure
}

// plotKind is a kind of figure. A new one is a function and a line in plotKinds.
type plotKind struct {
	name  string
	about string // one line, for the help
	of    []*runKind
	many  bool // it is of several runs of one kind together
	alone bool // where it is of several, one will do
	draw  func(runs []*runData) ([]plotted, error)
}

// plotGiven is what figures are told beside the runs. Zero is nothing.
type plotGiven struct {
	policy    *contender // whose path stands in trees, and whose decisions in heat maps, of tables that lie alone
	threshold *float64   // for transfer; nil is what the first run has in the end
}

// plotKinds are all figures, in the order in which they are drawn.
func plotKinds(given plotGiven) []plotKind {
	tables := []*runKind{simulationRuns, tableRuns, originalRuns}
	return []plotKind{
		{name: "curves", about: "loss, accuracy and speed of a job, of the original's trainings", of: []*runKind{jobRuns, originalRuns}, draw: single(plotCurves)},
		{name: "timeline", about: "accuracy over time with each adaptation, up and down", of: []*runKind{jobRuns, originalRuns}, draw: single(plotTimeline)},
		{name: "spent", about: "what a job spent its budget on", of: []*runKind{jobRuns}, draw: single(plotSpent)},
		{name: "networks", about: "a job's network before and after surgery", of: []*runKind{jobRuns}, draw: single(plotNetworks)},
		{name: "learning", about: "how policies learned, with what differs between seeds", of: []*runKind{policiesRuns, policyRuns, originalRuns}, draw: single(plotLearning)},
		{name: "exploration", about: "how often a policy of the original's explored, by temperature", of: []*runKind{policyRuns}, draw: single(plotExploration)},
		{name: "bars", about: "accuracy of learned, none, random, best fixed and optimum by scenario", of: []*runKind{policiesRuns, evaluationRuns, pipelineRuns}, draw: single(plotBars)},
		{name: "regret", about: "regret of all that were evaluated, with what differs between tables", of: []*runKind{evaluationRuns, pipelineRuns}, draw: single(plotRegret)},
		{name: "stages", about: "how long the stages of a pipeline took", of: []*runKind{pipelineRuns}, draw: single(plotStages)},
		{name: "heat", about: "what a policy does first, by time left and scenario", of: []*runKind{policiesRuns}, draw: single(plotHeat)},
		{name: "decisions", about: "the same of the policy of --policy, in tables", of: tables, many: true, alone: true, draw: given.plotDecisions},
		{name: "tree", about: "the tree of actions, with the optimum and a policy's path", of: append(tables, policiesRuns, policyRuns), draw: single(given.plotTrees)},
		{name: "ranks", about: "accuracy of all sequences of a table, with what differs between seeds", of: tables, draw: single(plotRanks)},
		{name: "completions", about: "how long jobs of a cluster take under each scheduler, as shares of the jobs", of: []*runKind{clusterRuns}, draw: single(plotCompletions)},
		{name: "schedulers", about: "mean completion time of a cluster's jobs under each scheduler", of: []*runKind{clusterRuns}, draw: single(plotClusterBars)},
		{name: "usage", about: "GPUs with a job and jobs that wait over time, where output.every was set", of: []*runKind{clusterRuns}, draw: single(plotUsage)},
		{name: "queues", about: "how long a cluster's jobs wait, by virtual cluster and scheduler", of: []*runKind{clusterRuns}, draw: single(plotQueues)},
		{name: "accuracy", about: "several jobs; those that differ in their seed are one curve", of: []*runKind{jobRuns}, many: true, draw: plotAccuracy},
		{name: "throughput", about: "epochs a second of jobs, and what deciding, operating and saving took", of: []*runKind{jobRuns}, many: true, alone: true, draw: plotThroughput},
		{name: "episodes", about: "policies of the original's over episodes; those that differ in their seed are one curve", of: []*runKind{policyRuns}, many: true, draw: plotManyEpisodes},
		{name: "transfer", about: "several learning runs: jump-start and time to threshold against the first", of: []*runKind{policiesRuns, policyRuns}, many: true, draw: given.plotTransfer},
	}
}

// single draws a figure of each run by itself.
func single(draw func(r *runData) ([]plotted, error)) func([]*runData) ([]plotted, error) {
	return func(runs []*runData) ([]plotted, error) { return draw(runs[0]) }
}

// groups are the runs that make a figure together.
func (k plotKind) groups(runs []*runData) [][]*runData {
	var groups [][]*runData
	for _, kind := range k.of {
		var some []*runData
		for _, r := range runs {
			if r.Kind == kind {
				some = append(some, r)
			}
		}
		switch {
		case k.many && (len(some) > 1 || k.alone && len(some) == 1):
			groups = append(groups, some)
		case !k.many:
			for r := range slices.Chunk(some, 1) {
				groups = append(groups, r)
			}
		}
	}
	return groups
}

// numbersOf are columns of a series, all of which must be there.
func numbersOf(list []runSeries, name string, columns ...string) (map[string][]float64, error) {
	at := slices.IndexFunc(list, func(s runSeries) bool { return s.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("it has no %s yet", name)
	}
	found := map[string][]float64{}
	for _, want := range columns {
		c := list[at].column(want)
		if c == nil || c.Values == nil && c.Texts != nil {
			return nil, fmt.Errorf("its %s have no column %s", name, want)
		}
		if found[want] = c.Values; len(c.Values) == 0 {
			return nil, fmt.Errorf("its %s have no row yet", name)
		}
	}
	return found, nil
}

// textsOf is a column of texts.
func textsOf(list []runSeries, name, column string) ([]string, error) {
	at := slices.IndexFunc(list, func(s runSeries) bool { return s.Name == name })
	if at < 0 || list[at].column(column) == nil || list[at].column(column).Texts == nil {
		return nil, fmt.Errorf("its %s have no column %s", name, column)
	}
	return list[at].column(column).Texts, nil
}

// inPercent is a share as axes show it.
func inPercent(values []float64) []float64 {
	scaled := make([]float64, len(values))
	for k, v := range values {
		scaled[k] = 100 * v
	}
	return scaled
}

// rolling is the mean over a window that ends at each value; fewer where there are
// fewer before. Values that are none do not count.
func rolling(values []float64, window int) []float64 {
	means := make([]float64, len(values))
	for k := range values {
		sum, count := 0.0, 0
		for _, v := range values[max(0, k-window+1) : k+1] {
			if v == v {
				sum, count = sum+v, count+1
			}
		}
		means[k] = sum / float64(count) // no number where there is none
	}
	return means
}

// banded is the mean of several runs of values at each place, and its 95% interval by
// a bootstrap over them; the interval is nil for one run.
func banded(runs [][]float64) (mean, low, high []float64) {
	for k := range runs[0] {
		var values []float64
		for _, r := range runs {
			values = append(values, r[k])
		}
		i := stat.MeanInterval(values, 1)
		mean, low, high = append(mean, i.Mean), append(low, i.Low), append(high, i.High)
	}
	if len(runs) < 2 {
		return mean, nil, nil
	}
	return mean, low, high
}

// seedsCurve is the curve of several seeds: each of them faint, their mean, and its
// interval.
func seedsCurve(name string, x []float64, runs [][]float64) figure.Curve {
	c := figure.Curve{Name: name, X: x}
	if c.Y, c.Low, c.High = banded(runs); len(runs) > 1 {
		c.Raw = runs
	}
	return c
}
