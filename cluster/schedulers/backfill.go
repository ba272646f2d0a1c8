package schedulers

import (
	"cmp"
	"math"
	"slices"

	"graft/cluster"
	"graft/cluster/treap"
)

// backfill starts jobs in order of arrival. If the first has no placement, others may overtake it without delaying it:
// they end before it could start, or leave it enough devices (EASY; Lifka, The ANL/IBM SP scheduling system, JSSPP
// 1995). It counts the devices of a type and not nodes, so a job that needs whole nodes may start later than predicted.
// It uses estimated durations, or true durations without estimates.
type backfill struct {
	waiting *treap.Tree
	came    int64
	started []*cluster.Job // running jobs, by expected end
	until   map[*cluster.Job]int64
	typed   bool // types of nodes matter
}

// mostTried is the number of jobs tried after the first; other schedulers use this limit too.
const mostTried = 100

func newBackfill(s cluster.Setup) (cluster.Scheduler, error) {
	return &backfill{waiting: (&treap.Arena{}).Tree(), until: map[*cluster.Job]int64{}, typed: s.Typed}, nil
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
	kept := s.reserve(p, first)
	behind := *s.waiting.KeyOf(first)
	for range mostTried {
		j := s.waiting.Next(&behind, p.Room())
		if j == nil {
			break
		}
		behind = *s.waiting.KeyOf(j)
		within := s.within(p, j, kept)
		if !within && j.Demand() > kept.spare || !s.start(p, j) {
			continue
		}
		if !within {
			kept.spare -= j.Demand()
		}
	}
	return cluster.Never
}

// reservation is the time at which the first job can start, and the devices that others may use at that time.
type reservation struct {
	at    int64
	spare int64 // thousandths of devices
	kind  int   // type of nodes; -1 if types do not matter
}

// within reports whether a job that starts now leaves the devices of a reservation before its time, or does not use
// them.
func (s *backfill) within(p *cluster.Pool, j *cluster.Job, kept reservation) bool {
	if !s.typed {
		return p.Now()+expected(j) <= kept.at
	}
	kind, ok := p.TypeFor(j)
	return ok && (kind != kept.kind || p.Now()+expectedOn(j, kind) <= kept.at)
}

func (s *backfill) start(p *cluster.Pool, j *cluster.Job) bool {
	if !p.Start(j) {
		return false
	}
	s.waiting.Take(j)
	s.until[j] = p.Now() + expectedOn(j, j.Type())
	at, _ := slices.BinarySearchFunc(s.started, s.until[j],
		func(other *cluster.Job, end int64) int { return cmp.Compare(s.until[other], end) })
	s.started = slices.Insert(s.started, at, j)
	return true
}

// reserve finds the earliest time at which enough devices are free for the first job. Devices of different types do not
// add up.
func (s *backfill) reserve(p *cluster.Pool, first *cluster.Job) reservation {
	if !s.typed {
		return s.foresee(p, first, -1, p.Room())
	}
	best := reservation{at: cluster.Never}
	for k := range p.Types() {
		if !first.Accepts(k) {
			continue
		}
		if r := s.foresee(p, first, k, p.RoomOf(k)); r.spare >= 0 && r.at < best.at {
			best = r
		}
	}
	return best
}

// foresee returns the second at which enough devices are free for the first job, and the spare thousandths of devices
// at that time. A job that exceeds its expected duration is expected to end immediately. Only devices of the given type
// count; -1 means all.
func (s *backfill) foresee(p *cluster.Pool, first *cluster.Job, kind int, free int64) reservation {
	at := p.Now()
	for _, j := range s.started {
		if free >= first.Demand() {
			break
		}
		if kind < 0 || j.Type() == kind {
			at, free = max(at, s.until[j]), free+j.Demand()
		}
	}
	return reservation{at, free - first.Demand(), kind}
}

// expected returns the expected duration of a job in seconds.
func expected(j *cluster.Job) int64 {
	if j.Estimate >= 0 {
		return int64(j.Estimate)
	}
	return j.Trace.Duration
}

// expectedOn returns the expected duration of a job on a type of nodes; -1 if types do not matter.
func expectedOn(j *cluster.Job, kind int) int64 {
	if rate := j.RateOn(kind); rate != 1 {
		return int64(math.Ceil(float64(expected(j)) / rate))
	}
	return expected(j)
}
