package main

import (
	"math"
	"slices"

	"graft/cluster"
	"graft/results"
	"graft/results/runs"
)

func clusterIntervalOf(i cluster.Interval) runs.ClusterInterval {
	return runs.ClusterInterval{Mean: runs.FiniteOrNil(i.Mean), Low: runs.FiniteOrNil(i.Low), High: runs.FiniteOrNil(i.High), Days: i.Windows}
}

func clusterSpreadOf(s cluster.Spread) runs.ClusterSpread {
	return runs.ClusterSpread{Mean: runs.FiniteOrNil(s.Mean), Median: runs.FiniteOrNil(s.Median), P90: runs.FiniteOrNil(s.P90), P99: runs.FiniteOrNil(s.P99), P999: runs.FiniteOrNil(s.P999), Max: runs.FiniteOrNil(s.Max), Sum: s.Sum}
}

func clusterFiguresOf(jobs []*cluster.Job, keep func(j *cluster.Job) bool, begin int64) runs.ClusterFigures {
	s := cluster.Summarize(jobs, keep)
	return runs.ClusterFigures{Jobs: s.Jobs, Completion: clusterSpreadOf(s.Completion), Queue: clusterSpreadOf(s.Queue), Slowdown: runs.FiniteOrNil(s.Slowdown), Fairness: runs.FiniteOrNil(s.Fairness),
		Preemptions: s.Preemptions, Packed: s.Counts["packed"], Profiled: s.Counts["profiled"], Skipped: s.Counts["ended_in_profiler"], Last: max(0, s.Last-begin)}
}

// clusterSizes are the groups that jobs are shown in by their size.
var clusterSizes = []struct {
	name     string
	from, to int
}{{"1 GPU", 1, 1}, {"2 to 8 GPUs", 2, 8}, {"more than 8 GPUs", 9, math.MaxInt}}

// takeOutcome computes the figures of a simulation.
func takeOutcome(c *runs.ClusterCell, o *cluster.Outcome, mean cluster.Interval) {
	begin := o.Begin
	c.All, c.Mean = clusterFiguresOf(o.Jobs, nil, begin), clusterIntervalOf(mean)
	c.Used, c.Scalings, c.Events, c.Refused, c.Fixes = runs.FiniteOrNil(o.Used()), o.Counts["profiler_scalings"], o.Events, o.Refused, []runs.ClusterFix{}
	for _, p := range o.Pools {
		c.Pools = append(c.Pools, runs.ClusterPart{Name: p.Name, ClusterFigures: clusterFiguresOf(p.Jobs, nil, begin), Used: runs.FiniteOrNil(p.Used / p.All)})
	}
	for _, size := range clusterSizes {
		keep := func(j *cluster.Job) bool { return size.from <= j.Trace.GPUs && j.Trace.GPUs <= size.to }
		if f := clusterFiguresOf(o.Jobs, keep, begin); f.Jobs > 0 {
			c.Sizes = append(c.Sizes, runs.ClusterPart{Name: size.name, ClusterFigures: f, Used: nil})
		}
	}
	distribute(c, o)
}

// distributionPoints are into how many parts of equal share a distribution is divided.
const distributionPoints = 200

func distribute(c *runs.ClusterCell, o *cluster.Outcome) {
	times := make([]int64, len(o.Jobs))
	for k, j := range o.Jobs {
		times[k] = j.Completion()
	}
	slices.Sort(times)
	for k := range distributionPoints {
		if len(times) == 0 {
			break
		}
		share := float64(k+1) / distributionPoints
		at := int(math.Ceil(share*float64(len(times)))) - 1
		c.CDF = append(c.CDF, runs.ClusterQuantile{Share: share, Time: float64(times[max(0, at)])})
	}
}

func total(list []runs.ClusterRefusals) (n int) {
	for _, w := range list {
		n += w.Jobs
	}
	return n
}

func grouped(refused []cluster.Refusal) (list []runs.ClusterRefusals) {
	for _, f := range refused {
		at := slices.IndexFunc(list, func(w runs.ClusterRefusals) bool { return w.Why == f.Why })
		if at < 0 {
			at, list = len(list), append(list, runs.ClusterRefusals{Why: f.Why, Example: f.ID})
		}
		list[at].Jobs++
	}
	return list
}

// clusterColumns are those of the table of a run.
var clusterColumns = []results.Column{{Name: "scheduler", Kind: results.String}, {Name: "load"}, {Name: "part", Kind: results.String}, {Name: "jobs", Kind: results.Int},
	{Name: "completion_mean", Unit: "s"}, {Name: "completion_median", Unit: "s"}, {Name: "completion_p99", Unit: "s"},
	{Name: "queue_mean", Unit: "s"}, {Name: "queue_p999", Unit: "s"}, {Name: "slowdown"}, {Name: "used", Unit: "share"}, {Name: "preemptions", Kind: results.Int}}
