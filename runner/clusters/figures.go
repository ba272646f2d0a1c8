package clusters

import (
	"math"
	"slices"

	"graft/cluster"
	"graft/report/runs"
)

func intervalOf(i cluster.Interval) runs.ClusterInterval {
	return runs.ClusterInterval{Mean: runs.FiniteOrNil(i.Mean), Low: runs.FiniteOrNil(i.Low),
		High: runs.FiniteOrNil(i.High), Days: i.Windows}
}

func spreadOf(s cluster.Spread) runs.ClusterTimes {
	return runs.ClusterTimes{Mean: runs.FiniteOrNil(s.Mean), Median: runs.FiniteOrNil(s.Median),
		P90: runs.FiniteOrNil(s.P90), P99: runs.FiniteOrNil(s.P99), P999: runs.FiniteOrNil(s.P999),
		Max: runs.FiniteOrNil(s.Max), Sum: s.Sum}
}

func figuresOf(jobs []*cluster.Job, keep func(j *cluster.Job) bool, begin int64) runs.ClusterMetrics {
	s := cluster.Summarize(jobs, keep)
	return runs.ClusterMetrics{Jobs: s.Jobs, Completion: spreadOf(s.Completion), Queue: spreadOf(s.Queue),
		Slowdown: runs.FiniteOrNil(s.Slowdown), Fairness: runs.FiniteOrNil(s.Fairness),
		Preemptions: s.Preemptions, Colocated: s.Counts["packed"], Profiled: s.Counts["profiled"],
		EndedInProfiler: s.Counts["ended_in_profiler"], Last: max(0, s.Last-begin)}
}

// sizes groups jobs by the GPUs that they ask for.
var sizes = []struct {
	name     string
	from, to int
}{{"1 GPU", 1, 1}, {"2 to 8 GPUs", 2, 8}, {"more than 8 GPUs", 9, math.MaxInt}}

// summarize adds the figures of a simulation.
func summarize(c *runs.ClusterCell, o *cluster.Outcome, mean cluster.Interval) {
	begin := o.Begin
	c.All, c.Mean = figuresOf(o.Jobs, nil, begin), intervalOf(mean)
	c.Used, c.ProfilerScalings, c.Events, c.Refused, c.Fixes = runs.FiniteOrNil(o.Used()),
		o.Counts["profiler_scalings"], o.Events, o.Refused, []runs.ClusterCorrection{}
	for _, p := range o.Pools {
		c.Pools = append(c.Pools, runs.ClusterPart{Name: p.Name, ClusterMetrics: figuresOf(p.Jobs, nil, begin),
			Used: runs.FiniteOrNil(p.Used / p.All)})
	}
	for _, size := range sizes {
		keep := func(j *cluster.Job) bool { return size.from <= j.Trace.GPUs && j.Trace.GPUs <= size.to }
		if f := figuresOf(o.Jobs, keep, begin); f.Jobs > 0 {
			c.Sizes = append(c.Sizes, runs.ClusterPart{Name: size.name, ClusterMetrics: f, Used: nil})
		}
	}
	c.CDF = distribution(o)
}

// distributionPoints is the number of quantiles of a distribution.
const distributionPoints = 200

// distribution is the completion times at equal steps of the share of jobs.
func distribution(o *cluster.Outcome) (points []runs.ClusterQuantile) {
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
		points = append(points, runs.ClusterQuantile{Share: share, Time: float64(times[max(0, at)])})
	}
	return points
}

// refused is the number of jobs in a list.
func refused(list []runs.ClusterRefusals) (n int) {
	for _, w := range list {
		n += w.Jobs
	}
	return n
}

// grouped groups refused jobs by the reason.
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
