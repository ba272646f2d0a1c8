package schedulers

import (
	"cmp"
	"slices"

	"graft/cluster"
	"graft/cluster/treap"
)

// backfill starts jobs in order of arrival. If the first has no placement, others may overtake it without delaying it:
// they end before it could start, or leave it enough devices (EASY; Lifka, The ANL/IBM SP scheduling system, JSSPP
// 1995). It counts devices and not nodes, so a job that needs whole nodes may start later than predicted. It uses
// estimated durations, or true durations without estimates.
type backfill struct {
	waiting *treap.Tree
	came    int64
	started []*cluster.Job // running jobs, by expected end
	until   map[*cluster.Job]int64
}

// mostTried is the number of jobs tried after the first; other schedulers use this limit too.
const mostTried = 100

func newBackfill(cluster.Setup) (cluster.Scheduler, error) {
	return &backfill{waiting: (&treap.Arena{}).Tree(), until: map[*cluster.Job]int64{}}, nil
}

func (s *backfill) Arrived(j *cluster.Job) {
	s.waiting.Put(j, treap.Key{s.came})
	s.came++
}

func (s *backfill) Ended(j *cluster.Job) {
	s.started = slices.DeleteFunc(s.started, func(other *cluster.Job) bool { return other == j })
	delete(s.until, j)
}

// Shrunk implements [cluster.Shrinker]. The expected end stays, and a job that exceeds it is expected to end at once.
func (s *backfill) Shrunk(*cluster.Pool, *cluster.Job) {}

func (s *backfill) Schedule(p *cluster.Pool) int64 {
	first := s.waiting.Next(nil, int64(p.GPUs())*cluster.Whole)
	for first != nil && s.start(p, first) {
		first = s.waiting.Next(nil, int64(p.GPUs())*cluster.Whole)
	}
	if first == nil {
		return cluster.Never
	}
	at, spare := s.foresee(p, first)
	behind := *s.waiting.KeyOf(first)
	for range mostTried {
		j := s.waiting.Next(&behind, p.Room())
		if j == nil {
			break
		}
		behind = *s.waiting.KeyOf(j)
		within := p.Now()+expected(j) <= at
		if !within && j.Demand() > spare || !s.start(p, j) {
			continue
		}
		if !within {
			spare -= j.Demand()
		}
	}
	return cluster.Never
}

func (s *backfill) start(p *cluster.Pool, j *cluster.Job) bool {
	if !p.Start(j) {
		return false
	}
	s.waiting.Take(j)
	s.until[j] = p.Now() + expected(j)
	at, _ := slices.BinarySearchFunc(s.started, s.until[j],
		func(other *cluster.Job, end int64) int { return cmp.Compare(s.until[other], end) })
	s.started = slices.Insert(s.started, at, j)
	return true
}

// foresee returns the second at which enough devices are free for the first job, and the spare thousandths of devices
// at that time. A job that exceeds its expected duration is expected to end immediately.
func (s *backfill) foresee(p *cluster.Pool, first *cluster.Job) (at, spare int64) {
	at, free := p.Now(), p.Room()
	for _, j := range s.started {
		if free >= first.Demand() {
			break
		}
		at, free = max(at, s.until[j]), free+j.Demand()
	}
	return at, free - first.Demand()
}

// expected returns the expected duration of a job in seconds.
func expected(j *cluster.Job) int64 {
	if j.Estimate >= 0 {
		return int64(j.Estimate)
	}
	return j.Trace.Duration
}
