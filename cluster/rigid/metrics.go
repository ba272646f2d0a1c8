package rigid

import (
	"math"
	"slices"

	"graft/cluster"
	"graft/cluster/study"
)

// metrics of a simulation. Completion counts from submission to end; waiting is all time without devices.
var metrics = []study.Metric{
	{Name: "jct_mean", Unit: "s", Title: "mean JCT", About: "mean time from submission to end of a job",
		Better: study.Lower, Format: "%.1f", Main: true},
	{Name: "jct_p50", Unit: "s", Title: "p50", About: "median JCT", Better: study.Lower, Format: "%.1f"},
	{Name: "jct_p90", Unit: "s", Title: "p90", About: "90th percentile of JCT", Better: study.Lower,
		Hidden: true, Format: "%.1f"},
	{Name: "jct_p99", Unit: "s", Title: "p99", About: "99th percentile of JCT", Better: study.Lower,
		Format: "%.1f"},
	{Name: "jct_p999", Unit: "s", Title: "p99.9", About: "99.9th percentile of JCT", Better: study.Lower,
		Hidden: true, Format: "%.1f"},
	{Name: "jct_max", Unit: "s", Title: "longest JCT", About: "longest JCT", Better: study.Lower,
		Hidden: true, Format: "%.1f"},
	{Name: "jct_sum", Unit: "s", Title: "total JCT", About: "sum of JCT", Better: study.Lower, Hidden: true,
		Format: "%.1f",
		Total:  true},
	{Name: "queue_mean", Unit: "s", Title: "queue", About: "mean waiting time of a job", Better: study.Lower,
		Format: "%.1f", Main: true},
	{Name: "queue_p50", Unit: "s", Title: "queue p50", About: "median waiting time", Better: study.Lower, Hidden: true,
		Format: "%.1f"},
	{Name: "queue_p90", Unit: "s", Title: "queue p90", About: "90th percentile of the waiting time",
		Better: study.Lower, Hidden: true, Format: "%.1f"},
	{Name: "queue_p99", Unit: "s", Title: "queue p99", About: "99th percentile of the waiting time",
		Better: study.Lower, Hidden: true, Format: "%.1f"},
	{Name: "queue_p999", Unit: "s", Title: "queue p99.9", About: "99.9th percentile of the waiting time",
		Better: study.Lower, Format: "%.1f", Main: true},
	{Name: "queue_max", Unit: "s", Title: "longest queue", About: "longest waiting time", Better: study.Lower,
		Hidden: true, Format: "%.1f"},
	{Name: "queue_sum", Unit: "s", Title: "total queue", About: "total waiting time of all jobs", Better: study.Lower,
		Hidden: true, Format: "%.1f", Total: true},
	{Name: "slowdown_mean", Title: "slowdown", About: "mean ratio of JCT to duration; a duration below 10 s counts " +
		"as 10 s", Better: study.Lower, Format: "%.1f", Main: true},
	{Name: "fairness", Title: "fairness", About: "Jain's index of the users' mean slowdowns; 1 if all are equal",
		Better: study.Higher, Format: "%.3f"},
	{Name: "makespan", Unit: "s", Title: "makespan", About: "time from the beginning of the simulation to the end " +
		"of the last job",
		Better: study.Lower, Format: "%.0f"},
	{Name: "used", Unit: "share", Title: "used", About: "share of the time of GPUs in service that is allocated to " +
		"jobs, until the last submission", Better: study.Higher, Main: true},
	{Name: "preemptions", Title: "preempted", About: "preemptions of all jobs", Better: study.Neutral, Main: true,
		Total: true, Format: "%.0f"},
	{Name: "packed", Unit: "jobs", Title: "packed", About: "jobs that shared the GPUs of another job",
		Better: study.Neutral, Hidden: true, Total: true},
	{Name: "profiled", Unit: "jobs", Title: "profiled", About: "jobs that first ran on GPUs of the profiler",
		Better: study.Neutral, Hidden: true, Total: true},
	{Name: "ended_in_profiler", Unit: "jobs", Title: "ended in profiler", About: "jobs that ended on GPUs of the " +
		"profiler", Better: study.Neutral, Hidden: true, Total: true},
	{Name: "profiler_scalings", Title: "profiler scalings", About: "changes of the profiler's number of nodes",
		Better: study.Neutral, Hidden: true, Total: true},
	{Name: "events", Title: "events", About: "number of simulated arrivals and ends", Better: study.Neutral,
		Hidden: true, Total: true},
	{Name: "simulated", Unit: "jobs", Title: "jobs", About: "simulated jobs", Better: study.Neutral,
		Hidden: true, Total: true, Format: "%.0f"},
}

// failureMetrics are the metrics of a simulation in which nodes fail.
var failureMetrics = []study.Metric{
	{Name: "availability", Unit: "share", Title: "available", About: "share of the time of all nodes, including " +
		"spare " +
		"nodes, without a failure", Better: study.Neutral, Format: "%.4f"},
	{Name: "lost", Unit: "GPU h", Title: "lost", About: "GPU hours of work that jobs repeated because of failures",
		Better: study.Lower, Format: "%.1f", Main: true, Total: true},
	{Name: "restarts", Title: "restarts", About: "restarts of jobs after failures", Better: study.Lower, Format: "%.0f",
		Total: true},
	{Name: "failures_mean", Title: "failures", About: "mean number of failures that hit a job", Better: study.Lower,
		Format: "%.3f"},
	{Name: "hit", Unit: "jobs", Title: "jobs hit", About: "jobs that were hit by a failure", Better: study.Lower,
		Format: "%.0f", Hidden: true, Total: true},
	{Name: "node_failures", Title: "node failures", About: "failures of nodes until the last submission, and " +
		"until the last job of their virtual cluster ended",
		Better: study.Neutral, Hidden: true, Total: true},
	{Name: "drains", Title: "drains", About: "planned outages of nodes", Better: study.Neutral, Hidden: true,
		Total: true},
}

// addFailures adds the metrics of failures.
func addFailures(v study.Values, o *cluster.Outcome) {
	outages := o.Outages()
	v["availability_share"] = finite(outages.Availability)
	v["node_failures"], v["drains"] = study.Number(outages.Failures), study.Number(outages.Drains)
	addLosses(v, o.Jobs)
}

// addLosses adds the losses of jobs.
func addLosses(v study.Values, jobs []*cluster.Job) {
	hit, failures, restarts, lost := 0, 0, 0, 0.0
	for _, j := range jobs {
		l := j.Lost()
		failures += l.Failures
		restarts += l.Restarts
		lost += j.LostGPUSeconds()
		hit += min(1, l.Failures)
	}
	v["lost_gpu_h"], v["restarts"] = study.Number(lost/secondsOfHour), study.Number(restarts)
	v["failures_mean"], v["hit_jobs"] = finite(float64(failures)/float64(len(jobs))), study.Number(hit)
}

const secondsOfHour = 3600

// valuesOf computes the metrics of all jobs.
func valuesOf(o *cluster.Outcome, z *cluster.Summarizer) study.Values {
	v := jobValues(z.Summarize(o.Jobs), o.Begin)
	v["used_share"], v["events"] = finite(o.Used()), study.Number(o.Events)
	v["profiler_scalings"] = study.Number(o.Counts["profiler_scalings"])
	if o.Failing {
		addFailures(v, o)
	}
	if o.Evicting {
		addEvictions(v, o.Jobs, nil)
	}
	addGrowth(v, o)
	return v
}

// jobValues returns the metrics of a group of jobs.
func jobValues(s cluster.Summary, begin int64) study.Values {
	v := study.Values{
		"simulated_jobs": study.Number(s.Jobs), "slowdown_mean": finite(s.Slowdown), "fairness": finite(s.Fairness),
		"preemptions": study.Number(s.Preemptions), "packed_jobs": study.Number(s.Counts["packed"]),
		"profiled_jobs": study.Number(s.Counts["profiled"]), "queue_sum_s": study.Number(s.Queue.Sum),
		"jct_sum_s":              study.Number(s.Completion.Sum),
		"ended_in_profiler_jobs": study.Number(s.Counts["ended_in_profiler"]),
		"makespan_s":             study.Number(max(0, s.Last-begin)),
	}
	for name, spread := range map[string]cluster.Spread{"jct": s.Completion, "queue": s.Queue} {
		v[name+"_mean_s"], v[name+"_p50_s"], v[name+"_p90_s"] = finite(spread.Mean), finite(spread.Median),
			finite(spread.P90)
		v[name+"_p99_s"], v[name+"_p999_s"], v[name+"_max_s"] = finite(spread.P99), finite(spread.P999),
			finite(spread.Max)
	}
	return v
}

// sizes groups jobs by requested GPUs.
var sizes = []struct {
	name     string
	from, to int
}{{"1 GPU", 1, 1}, {"2 to 8 GPUs", 2, 8}, {"more than 8 GPUs", 9, math.MaxInt}}

// poolGroup is the group of the parts that are virtual clusters.
const poolGroup = "virtual cluster"

// partsOf computes the metrics of jobs by size and by virtual cluster.
func partsOf(o *cluster.Outcome, z *cluster.Summarizer) (parts []study.Part) {
	memory := make([]*cluster.Job, 0, len(o.Jobs))
	for _, size := range sizes {
		keep := func(j *cluster.Job) bool { return size.from <= j.Trace.GPUs && j.Trace.GPUs <= size.to }
		if v := groupValues(o, z, memory, keep); v != nil {
			parts = append(parts, study.Part{Group: "size", Name: size.name, Values: v})
		}
	}
	parts = slices.Concat(parts, typeParts(o, z, memory), spotParts(o, z, memory), resizableParts(o, z, memory))
	for _, p := range o.Pools {
		v := jobValues(z.Summarize(p.Jobs), o.Begin)
		v["used_share"] = finite(p.Used / p.All)
		parts = append(parts, study.Part{Group: poolGroup, Name: p.Name, Values: v})
	}
	return parts
}

// groupValues returns the metrics of the jobs that keep accepts; nil if there are none.
func groupValues(o *cluster.Outcome, z *cluster.Summarizer, memory []*cluster.Job,
	keep func(j *cluster.Job) bool) study.Values {
	jobs := memory[:0]
	for _, j := range o.Jobs {
		if keep(j) {
			jobs = append(jobs, j)
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	v := jobValues(z.Summarize(jobs), o.Begin)
	if o.Failing {
		addLosses(v, jobs)
	}
	return v
}

// leftOut groups jobs that cannot run by reason.
func leftOut(refused []cluster.Refusal) (list []study.LeftOut) {
	for _, f := range refused {
		at := slices.IndexFunc(list, func(l study.LeftOut) bool { return l.Why == f.Why })
		if at < 0 {
			at, list = len(list), append(list, study.LeftOut{Why: f.Why, Example: f.ID})
		}
		list[at].Jobs++
	}
	return list
}

// refuse finds the jobs that simulations leave out. It returns an error if no job is left.
func (s *inputs) refuse() error {
	refused, err := s.base.Refusals(s.Cluster.Placement)
	if err != nil {
		return err
	}
	s.left = leftOut(refused)
	if len(refused) == len(s.base.Jobs) {
		return invalid("no job can be simulated: %s; correct the trace or the nodes", study.LeftOutText(s.left))
	}
	return nil
}
