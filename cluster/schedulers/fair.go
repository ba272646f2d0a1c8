package schedulers

import (
	"cmp"
	"slices"

	"graft/cluster"
	"graft/internal/events"
)

// fair divides the devices of a pool among its jobs so that the least share is as large as
// it can be, then the next (max-min fairness; Bertsekas and Gallager, Data networks, 1992,
// section 6.5.2). No job gets more than it asked for. A job with fewer devices works slower in
// proportion. Where there are more jobs than devices, those that came first have one each.
//
// It divides once a minute, if jobs came or went; a job whose share changes loses as much as a
// preempted one.
type fair struct {
	came    []*cluster.Job // those that have not ended, in the order in which they came
	changed bool
	gpus    int // that there were when it was asked last
}

func newFair(cluster.Setup) (cluster.Scheduler, error) { return &fair{}, nil }

func (s *fair) Arrived(j *cluster.Job) { s.came, s.changed = append(s.came, j), true }

func (s *fair) Ended(j *cluster.Job) {
	at, _ := slices.BinarySearchFunc(s.came, j.Number,
		func(other *cluster.Job, number int) int { return cmp.Compare(other.Number, number) })
	s.came, s.changed = slices.Delete(s.came, at, at+1), true
}

func (s *fair) Schedule(p *cluster.Pool) int64 {
	if p.GPUs() != s.gpus {
		s.gpus, s.changed = p.GPUs(), true
	}
	if !s.changed {
		return cluster.Never
	}
	if p.Now()%roundEvery != 0 {
		return events.NextMultiple(p.Now(), roundEvery)
	}
	s.changed = false
	jobs := s.came[:min(len(s.came), p.GPUs())]
	shares := divide(jobs, p.GPUs())
	s.give(p, jobs, shares, func(now, share int) bool { return share < now })
	s.give(p, jobs, shares, func(now, share int) bool { return share > now })
	return cluster.Never
}

// divide is the share of each job: the smallest demand is met first, what it leaves goes to
// the others.
func divide(jobs []*cluster.Job, gpus int) []int {
	by := make([]int, len(jobs))
	for k := range by {
		by[k] = k
	}
	slices.SortStableFunc(by, func(a, b int) int { return jobs[a].Trace.GPUs - jobs[b].Trace.GPUs })
	shares := make([]int, len(jobs))
	for k, at := range by {
		shares[at] = min(jobs[at].Trace.GPUs, gpus/(len(by)-k))
		gpus -= shares[at]
	}
	return shares
}

// give changes the devices of jobs to their shares, of those for which it is time. A job
// keeps what it has where there is no place for its share.
func (s *fair) give(p *cluster.Pool, jobs []*cluster.Job, shares []int, now func(has, share int) bool) {
	for k, j := range jobs {
		switch {
		case !j.Running() && now(0, shares[k]):
			s.changed = !p.StartOn(j, shares[k]) || s.changed
		case j.Running() && now(j.GPUs, shares[k]):
			s.changed = !p.Resize(j, shares[k]) || s.changed
		}
	}
}
