package schedulers

import (
	"graft/cluster"
	"graft/cluster/treap"
)

// srtf gives devices to the jobs that have the least left to do, and takes them from others
// for it. It knows how long each will take.
//
// Jobs that run come nearer to their end, those that wait do not, so their order changes all
// the time; but where a job that runs overtakes one that waits, the same jobs fit as before:
// both were let in, or the one that waits was not and now has less room. So it decides only
// where a job arrived or ended. Those that run keep their order among themselves, which is
// that of their ends, and those that wait keep theirs: it goes through two orders at once.
type srtf struct {
	running *treap.Tree // by when they end
	waiting *treap.Tree // by the work that is left
	seq     int64
	extra   int64 // seconds that jobs keep their devices for at the end

	start, stop []*cluster.Job
}

func newSRTF(s cluster.Setup) (cluster.Scheduler, error) {
	all := &treap.Arena{}
	return &srtf{running: all.Tree(), waiting: all.Tree(), extra: s.Extra}, nil
}

func (s *srtf) Arrived(j *cluster.Job) { s.wait(j, j.Trace.Duration) }

func (s *srtf) Ended(j *cluster.Job) { s.running.Take(j) }

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

// choose goes through all jobs by what they have left, of equal ones first those that wait,
// and lets in what fits.
func (s *srtf) choose(p *cluster.Pool) {
	s.start, s.stop = s.start[:0], s.stop[:0]
	room, rest := int64(p.GPUs())*cluster.Whole, s.running.Drain()
	for j := s.waiting.Next(nil, room); j != nil; {
		k := *s.waiting.KeyOf(j)
		// A running job's work is its end less this second and the extra one.
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
