package tasks

import (
	"cmp"
	"fmt"
	"slices"
)

// Job runs alone on one GPU, from its start to its end.
type Job struct {
	Name     string  `json:"name"`
	Runtime  float64 `json:"runtime"`  // in seconds
	Tickets  int     `json:"tickets"`  // of the lottery; zero never runs
	Weight   float64 `json:"weight"`   // of fair queueing
	Estimate float64 `json:"estimate"` // of the runtime, in seconds, of fair queueing
	Prepare  float64 `json:"prepare"`  // untimed work before it, in seconds; only fair queueing sees it
}

// JobRun is a job that ran.
type JobRun struct {
	Job        Job
	Start, End float64 // in seconds
	// VirtualStart and VirtualEnd are tags of fair queueing; zero elsewhere.
	VirtualStart, VirtualEnd float64
}

// FCFS runs jobs in the order of the list. Its clock has no gaps.
func FCFS(list []Job) (runs []JobRun) {
	now := 0.0
	for _, j := range list {
		runs = append(runs, JobRun{Job: j, Start: now, End: now + j.Runtime})
		now += j.Runtime
	}
	return runs
}

// Lottery draws so many jobs by their tickets, or all if there are fewer; each runs once. A draw from
// jobs without tickets is an error.
func Lottery(list []Job, draws int, s Source) ([]JobRun, error) {
	pool, drawn := slices.Clone(list), []Job{}
	for len(drawn) < draws && len(pool) > 0 {
		total := 0
		for _, j := range pool {
			total += max(0, j.Tickets)
		}
		if total == 0 {
			return FCFS(drawn), fmt.Errorf("draw %d of the lottery: none of %d jobs has a ticket; give them tickets",
				len(drawn)+1, len(pool))
		}
		ticket, at := s.IntN(total), 0
		for ; ticket >= max(0, pool[at].Tickets); at++ {
			ticket -= max(0, pool[at].Tickets)
		}
		drawn = append(drawn, pool[at])
		pool = slices.Delete(pool, at, at+1)
	}
	return FCFS(drawn), nil
}

// WFQ is weighted fair queueing in which each job is a flow of its own, so that jobs added together run in
// the order of estimate over weight. Jobs with equal tags run in the order of Add; the published program
// fails there.
type WFQ struct {
	queue   []JobRun
	virtual float64
	now     float64 // in seconds
}

// Add queues a job. Its weight must be positive.
func (q *WFQ) Add(j Job) error {
	if !(j.Weight > 0) {
		return fmt.Errorf("add job %q to a fair queue: weight %g; expected a positive one", j.Name, j.Weight)
	}
	start := max(q.virtual, 0)
	q.queue = append(q.queue, JobRun{Job: j, VirtualStart: start, VirtualEnd: start + j.Estimate/j.Weight})
	return nil
}

// Run runs all jobs of the queue. Virtual time follows each job's tags, backward too.
func (q *WFQ) Run() (runs []JobRun) {
	slices.SortStableFunc(q.queue, func(a, b JobRun) int { return cmp.Compare(a.VirtualEnd, b.VirtualEnd) })
	for _, r := range q.queue {
		r.Start = q.now + r.Job.Prepare
		r.End = r.Start + r.Job.Runtime
		q.now, q.virtual = r.End, max(r.VirtualStart, r.VirtualEnd)
		runs = append(runs, r)
	}
	q.queue = nil
	return runs
}
