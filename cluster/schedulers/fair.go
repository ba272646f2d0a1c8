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
// A job that cannot be resized starts when its requested devices are left by one device for each running job that can
// be resized; later jobs that need fewer devices overtake it. It keeps its devices until it ends.
//
// It divides once a minute, if jobs arrived or ended. A job whose share changes loses as much work as a preempted one.
type fair struct {
	// returns the number of devices of each job; nil keeps all devices
	split Split
	every int64 // seconds between two divisions
	// gives a job fewer devices than its share if the share has no placement, and divides again after every seconds
	// until each job has its share
	fewer bool
	// split gets all jobs, and may return shares of zero, for which jobs wait; it divides again after the next event.
	// If false, it gets only the jobs for whose least numbers of devices the pool has room.
	all bool

	came    []*cluster.Job // jobs that have not ended, in order of arrival
	fixed   int            // number of these jobs that cannot be resized
	changed bool
	gpus    int // number of devices at the last call
	moves   int // number of changes of the nodes until the last call
}

func newFair(cluster.Setup) (cluster.Scheduler, error) {
	return &fair{split: byFairness, every: roundEvery}, nil
}

// Arrived inserts a job at its position. A job that arrives again after a failure has its first position.
func (s *fair) Arrived(j *cluster.Job) {
	at, _ := slices.BinarySearchFunc(s.came, j.Number,
		func(other *cluster.Job, number int32) int { return cmp.Compare(other.Number, number) })
	s.came, s.changed = slices.Insert(s.came, at, j), true
	if !j.Resizable() {
		s.fixed++
	}
}

// Shrunk implements [cluster.Shrinker]. The next division restores the job's share.
func (s *fair) Shrunk(*cluster.Pool, *cluster.Job) { s.changed = true }

func (s *fair) Ended(j *cluster.Job) {
	at, _ := slices.BinarySearchFunc(s.came, j.Number,
		func(other *cluster.Job, number int32) int { return cmp.Compare(other.Number, number) })
	s.came, s.changed = slices.Delete(s.came, at, at+1), true
	if !j.Resizable() {
		s.fixed--
	}
}

func (s *fair) Schedule(p *cluster.Pool) int64 {
	if p.GPUs() != s.gpus || s.fixed > 0 && p.Moves() != s.moves { // other nodes can have a placement for a fixed job
		s.gpus, s.moves, s.changed = p.GPUs(), p.Moves(), true
	}
	if !s.changed {
		return cluster.Never
	}
	if p.Now()%s.every != 0 {
		if s.fewer {
			s.startFree(p)
		}
		return events.NextMultiple(p.Now(), s.every)
	}
	s.changed = false
	jobs := s.came
	if !s.all {
		jobs = admitted(p, jobs)
	}
	shares := s.split(p, jobs)
	if shares == nil {
		return cluster.Never
	}
	s.give(p, jobs, shares, func(now, share int) bool { return share < now })
	s.start(p, jobs, shares)
	s.give(p, jobs, shares, func(now, share int) bool { return share > now })
	if s.fewer && s.changed && !s.all {
		return p.Now() + s.every
	}
	return cluster.Never
}

// startFree starts waiting jobs on the devices that they request, as long as there are enough free devices for all of
// them.
func (s *fair) startFree(p *cluster.Pool) {
	requested := 0
	for _, j := range s.came {
		if !j.Running() {
			requested += j.Trace.GPUs
		}
	}
	if requested > p.Free() {
		return
	}
	for _, j := range s.came {
		if !j.Running() {
			p.Start(j)
		}
	}
}

// admitted returns the jobs of a list that get devices: first the running ones, and then the waiting ones whose least
// numbers of devices are left. Nodes that are about to leave the pool can have running jobs for which none are left.
func admitted(p *cluster.Pool, came []*cluster.Job) (jobs []*cluster.Job) {
	gets, gpus := make([]bool, len(came)), p.GPUs()
	admit := func(running bool, place func(j *cluster.Job) bool) {
		for k, j := range came {
			if n := least(j); gpus > 0 && j.Running() == running && n <= gpus && place(j) {
				gets[k], gpus = true, gpus-n
			}
		}
	}
	anywhere := func(*cluster.Job) bool { return true }
	admit(true, anywhere)
	if !slices.ContainsFunc(came, func(j *cluster.Job) bool { return !j.Resizable() }) {
		admit(false, anywhere)
	} else {
		p.Try(func(place func(j *cluster.Job, gpus int) bool) {
			for k, j := range came {
				if gets[k] && j.Resizable() {
					place(j, 1) // on nodes that the job accepts
				}
			}
			admit(false, func(j *cluster.Job) bool { return place(j, least(j)) })
		})
	}
	for k, j := range came {
		if gets[k] {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// least returns the least number of devices with which a job runs.
func least(j *cluster.Job) int {
	if j.Resizable() {
		return 1
	}
	return j.Trace.GPUs
}

// divide returns the share of each job. Jobs that cannot be resized have their requested devices. Of the others, it
// satisfies the smallest demand first, and the rest goes to the others.
func divide(jobs []*cluster.Job, gpus int) []int {
	by, shares := make([]int, 0, len(jobs)), make([]int, len(jobs))
	for k, j := range jobs {
		if j.Resizable() {
			by = append(by, k)
		} else {
			shares[k] = j.Trace.GPUs
			gpus -= shares[k]
		}
	}
	slices.SortStableFunc(by, func(a, b int) int { return jobs[a].Trace.GPUs - jobs[b].Trace.GPUs })
	for k, at := range by {
		shares[at] = min(jobs[at].Trace.GPUs, gpus/(len(by)-k))
		gpus -= shares[at]
	}
	return shares
}

// start starts the waiting jobs that cannot be resized. They preempt others that can, which then start elsewhere.
func (s *fair) start(p *cluster.Pool, jobs []*cluster.Job, shares []int) {
	for k, j := range jobs {
		if !j.Resizable() && !j.Running() && shares[k] > 0 && !p.Start(j) {
			s.changed = !(p.Vacate(j) && p.Start(j)) || s.changed
		}
	}
}

// give changes the devices of the jobs selected by now to their shares. A job keeps its devices if its share has no
// placement.
func (s *fair) give(p *cluster.Pool, jobs []*cluster.Job, shares []int, now func(has, share int) bool) {
	for k, j := range jobs {
		switch {
		case !j.Resizable():
		case shares[k] == 0:
			if j.Running() {
				p.Preempt(j)
			}
		case (s.fewer || s.fixed > 0 && !j.Running()) && now(0, 1): // a fixed job may have preempted it
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
