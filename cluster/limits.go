package cluster

import (
	"cmp"
	"math"

	"graft/cluster/trace"
)

// Deadline returns the second at which a job should have ended: its submission and the deadline factor times its time
// limit. It returns an infinity for a job without a time limit.
func (s *Study) Deadline(t *trace.Job) float64 {
	if t.Limit <= 0 {
		return math.Inf(1)
	}
	return float64(t.Submit) + cmp.Or(s.DeadlineFactor, 1)*float64(t.Limit)
}

// TimedOut reports whether a job reached its time limit before its work was done.
func (j *Job) TimedOut() bool { return j.Lost().timedOut }

// limited reports whether a job ends at its time limit.
func (p *Pool) limited(j *Job) bool { return p.limits && j.Trace.Limit > 0 }

// Rest returns the remaining work of a job or, if it is shorter, the rest of its time limit, if limits are enforced.
func (p *Pool) Rest(j *Job) float64 {
	if !p.limited(j) {
		return p.Left(j)
	}
	held := int64(0)
	if j.Running() {
		held = max(0, p.Now()-j.Lost().began)
	}
	return j.untilLimit(p.Left(j), held)
}

// Rest returns the same as [Pool.Rest] for a waiting job.
func (s *Study) Rest(j *Job) float64 {
	if s.Limits && j.Trace.Limit > 0 {
		return j.untilLimit(j.work, 0)
	}
	return j.work
}

// untilLimit returns the remaining work of a job or, if it is shorter, the rest of its time limit, for a job that has
// held its current devices for a number of seconds.
func (j *Job) untilLimit(left float64, held int64) float64 {
	return min(left, float64(j.Trace.Allowed()-j.Lost().ran-held))
}

// beforeLimit returns the second at which a running job ends that would otherwise end at a given second. A job has used
// its time limit if it had devices for as many seconds in total.
func (p *Pool) beforeLimit(j *Job, end int64) int64 {
	if !p.limited(j) {
		return end
	}
	l := j.loses()
	return min(end, l.began+j.Trace.Allowed()-l.ran)
}

// beginLimit notes the second from which a job has devices.
func (p *Pool) beginLimit(j *Job, from int64) {
	if p.limited(j) {
		j.loses().began = from
	}
}

// endLimit counts the time for which a settled job had devices.
func (p *Pool) endLimit(j *Job) {
	if p.limited(j) {
		l := j.loses()
		l.ran += max(0, p.Now()-l.began)
		l.timedOut = l.ran >= j.Trace.Allowed() && j.work > 0
	}
}
