package schedulers

import (
	"cmp"
	"slices"

	"graft/cluster"
	"graft/internal/events"
)

// fair divides the devices of a pool among its jobs by max-min fairness: it maximises the smallest share, then the next
// (Bertsekas and Gallager, Data networks, 1992, section 6.5.2). A job gets at most its requested devices. With fewer
// devices it works proportionally slower. If there are more jobs than devices, the earliest jobs have one device each.
//
// It divides once a minute, if jobs arrived or ended. A job whose share changes loses as much work as a preempted one.
type fair struct {
	// returns the number of devices of each job; nil keeps all devices
	split func(p *cluster.Pool, jobs []*cluster.Job) []int
	every int64 // seconds between two divisions
	// gives a job fewer devices than its share if the share has no placement, and divides again after every seconds
	// until each job has its share
	fewer bool

	came    []*cluster.Job // jobs that have not ended, in order of arrival
	changed bool
	gpus    int // number of devices at the last call
}

func newFair(cluster.Setup) (cluster.Scheduler, error) {
	return &fair{split: func(p *cluster.Pool, jobs []*cluster.Job) []int { return divide(jobs, p.GPUs()) },
		every: roundEvery}, nil
}

// Arrived inserts a job at its position. A job that arrives again after a failure has its first position.
func (s *fair) Arrived(j *cluster.Job) {
	at, _ := slices.BinarySearchFunc(s.came, j.Number,
		func(other *cluster.Job, number int32) int { return cmp.Compare(other.Number, number) })
	s.came, s.changed = slices.Insert(s.came, at, j), true
}

// Shrunk implements [cluster.Shrinker]. The next division restores the job's share.
func (s *fair) Shrunk(*cluster.Pool, *cluster.Job) { s.changed = true }

func (s *fair) Ended(j *cluster.Job) {
	at, _ := slices.BinarySearchFunc(s.came, j.Number,
		func(other *cluster.Job, number int32) int { return cmp.Compare(other.Number, number) })
	s.came, s.changed = slices.Delete(s.came, at, at+1), true
}

func (s *fair) Schedule(p *cluster.Pool) int64 {
	if p.GPUs() != s.gpus {
		s.gpus, s.changed = p.GPUs(), true
	}
	if !s.changed {
		return cluster.Never
	}
	if p.Now()%s.every != 0 {
		return events.NextMultiple(p.Now(), s.every)
	}
	s.changed = false
	jobs := s.came[:min(len(s.came), p.GPUs())]
	shares := s.split(p, jobs)
	if shares == nil {
		return cluster.Never
	}
	s.give(p, jobs, shares, func(now, share int) bool { return share < now })
	s.give(p, jobs, shares, func(now, share int) bool { return share > now })
	if s.fewer && s.changed {
		return p.Now() + s.every
	}
	return cluster.Never
}

// divide returns the share of each job: it satisfies the smallest demand first, and the rest goes to the others.
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

// give changes the devices of the jobs selected by now to their shares. A job keeps its devices if its share has no
// placement.
func (s *fair) give(p *cluster.Pool, jobs []*cluster.Job, shares []int, now func(has, share int) bool) {
	for k, j := range jobs {
		switch {
		case s.fewer && now(0, 1):
			s.changed = s.most(p, j, shares[k]) < shares[k] || s.changed
		case !j.Running() && now(0, shares[k]):
			s.changed = !p.StartOn(j, shares[k]) || s.changed
		case j.Running() && now(j.GPUs, shares[k]):
			s.changed = !p.Resize(j, shares[k]) || s.changed
		}
	}
}

// most gives a job its share or, if that has no placement, as many devices as possible. It returns their number.
func (s *fair) most(p *cluster.Pool, j *cluster.Job, share int) int {
	now := 0
	if j.Running() {
		now = j.GPUs
	}
	for n := share; n > now; n-- {
		if now == 0 && p.StartOn(j, n) || now > 0 && p.Resize(j, n) {
			return n
		}
	}
	return now
}
