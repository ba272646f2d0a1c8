package rigid

import (
	"graft/cluster"
	"graft/cluster/study"
)

// limitMetric is the metric of a simulation that enforces time limits.
var limitMetric = study.Metric{Name: "timed_out", Unit: "jobs", Title: "timed out", About: "jobs that reached their " +
	"time limits before their work was done", Better: study.Lower, Format: "%.0f", Total: true}

// deadlineMetric is the metric of a simulation with deadlines.
var deadlineMetric = study.Metric{Name: "deadlines_met", Unit: "share", Title: "met", About: "share of the jobs with " +
	"a time limit that completed by their deadlines", Better: study.Higher, Main: true}

// withLimits adds time limits and deadlines to a plan.
func (s *simulations) withLimits(p *study.Plan) {
	if s.Cluster.EnforceLimits {
		p.Metrics = append(p.Metrics, limitMetric)
		p.Remarks = append(p.Remarks, "Jobs end at their time limits.")
	}
	if s.Schedule.DeadlineFactor > 0 {
		p.Metrics = append(p.Metrics, deadlineMetric)
	}
}

// addLimits adds the metrics of time limits and deadlines.
func (s *simulations) addLimits(v study.Values, o *cluster.Outcome, of *cluster.Study) {
	timedOut, met, due := 0, 0, 0
	for _, j := range o.Jobs {
		if j.TimedOut() {
			timedOut++
		}
		if j.Trace.Limit > 0 {
			due++
			if !j.TimedOut() && float64(j.End) <= of.Deadline(j.Trace) {
				met++
			}
		}
	}
	if s.Cluster.EnforceLimits {
		v["timed_out_jobs"] = study.Number(timedOut)
	}
	if s.Schedule.DeadlineFactor > 0 {
		v["deadlines_met_share"] = finite(float64(met) / float64(due))
	}
}

// needsLimits returns an error if options need time limits that the trace does not have.
func (s *inputs) needsLimits() error {
	what := ""
	switch {
	case s.Cluster.EnforceLimits:
		what = "cluster.enforce_limits"
	case s.Schedule.DeadlineFactor > 0:
		what = "schedule.deadline_factor"
	}
	if what == "" || hasLimits(s.base.Jobs) {
		return nil
	}
	return invalid("%s needs the users' time limits, which the trace does not have; remove it, or use a trace "+
		"in slurm or swf format, or in graft's format with the column limit [s]", what)
}
