package schedulers

import (
	"graft/cluster"
	"graft/cluster/treap"
)

// srtf runs the jobs with the least remaining work, and preempts others for them. It uses true durations.
//
// Running jobs approach their ends and waiting jobs do not, so their order changes all the time. But when a running job
// overtakes a waiting one, the same jobs fit as before: either both were admitted, or the waiting one was not and now
// has less room. So srtf decides only after a job arrived or ended. Running jobs keep their relative order, which is
// the order of their ends, and waiting jobs keep theirs, so srtf merges two sorted orders.
type srtf struct {
	running *treap.Tree // by end
	waiting *treap.Tree // by remaining work
	seq     int64
	extra   int64 // seconds that jobs keep their devices after their work is done

	start, stop []*cluster.Job
}

func newSRTF(s cluster.Setup) (cluster.Scheduler, error) {
	all := treap.NewArena(len(s.Pool.Jobs))
	return &srtf{running: all.Tree(), waiting: all.Tree(), extra: s.Extra}, nil
}

func (s *srtf) Arrived(j *cluster.Job) { s.wait(j, int64(j.Remaining())) }

func (s *srtf) Ended(j *cluster.Job) { s.running.Take(j) }

// Shrunk implements [cluster.Shrinker]. The job has a later end.
func (s *srtf) Shrunk(_ *cluster.Pool, j *cluster.Job) {
	s.running.Take(j)
	s.running.Put(j, treap.Key{j.Ends(), j.Order(), 0})
}

func (s *srtf) wait(j *cluster.Job, left int64) {
	s.waiting.Put(j, treap.Key{left, s.seq, 0})
	s.seq++
}

func (s *srtf) Schedule(p *cluster.Pool) int64 {
	if p.Waiting() == 0 {
		return cluster.Never
	}
	s.choose(p)
	for _, j := range s.stop {
		s.running.Take(j)
		p.Preempt(j)
		s.wait(j, int64(p.Left(j)))
	}
	for _, j := range s.start {
		if p.Start(j) {
			s.waiting.Take(j)
			s.running.Put(j, treap.Key{j.Ends(), j.Order(), 0})
		}
	}
	return cluster.Never
}

// choose visits all jobs by remaining work, waiting jobs first on a tie, and admits jobs that fit.
func (s *srtf) choose(p *cluster.Pool) {
	s.start, s.stop = s.start[:0], s.stop[:0]
	room, rest := int64(p.GPUs())*cluster.Whole, s.running.Drain()
	for j := s.waiting.Next(nil, room); j != nil; {
		k := *s.waiting.KeyOf(j)
		// A running job's remaining work is its end minus this second and the extra one.
		part := rest.Cut(&treap.Key{k[0] + p.Now() + s.extra, -1, 0})
		room, _, s.stop = part.Fill(room, nil, s.stop)
		s.running.Append(part)
		if j.Demand() <= room {
			room -= j.Demand()
			s.start = append(s.start, j)
		}
		j = s.waiting.Next(&k, room)
	}
	_, _, s.stop = rest.Fill(room, nil, s.stop)
	s.running.Append(rest)
}
