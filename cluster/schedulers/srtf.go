package schedulers

import "graft/cluster"

// srtf gives devices to the jobs that have the least left to do, and takes them from others
// for it. It knows how long each will take.
//
// Jobs that run come nearer to their end, those that wait do not, so their order changes all
// the time; but where a job that runs overtakes one that waits, the same jobs fit as before:
// both were let in, or the one that waits was not and now has less room. So it decides only
// where a job arrived or ended. Those that run keep their order among themselves, which is
// that of their ends, and those that wait keep theirs: it goes through two orders at once.
type srtf struct {
	running *order // by when they end
	waiting *order // by the work that is left
	seq     int64
	extra   int64 // seconds that jobs keep their devices for at the end

	start, stop []*cluster.Job
}

func newSRTF(s cluster.Setup) (cluster.Scheduler, error) {
	all := &shelf{}
	return &srtf{running: all.order(), waiting: all.order(), extra: s.Extra}, nil
}

func (s *srtf) Arrived(j *cluster.Job) { s.wait(j, j.Trace.Duration) }

func (s *srtf) Ended(j *cluster.Job) { s.running.take(j) }

func (s *srtf) wait(j *cluster.Job, left int64) {
	s.waiting.put(j, key{left, s.seq, 0})
	s.seq++
}

func (s *srtf) Schedule(p *cluster.Pool) int64 {
	if p.Waiting() == 0 {
		return cluster.Never
	}
	s.choose(p)
	for _, j := range s.stop {
		s.running.take(j)
		p.Preempt(j, lost(j))
		s.wait(j, int64(p.Left(j)))
	}
	for _, j := range s.start {
		if p.Start(j) {
			s.waiting.take(j)
			s.running.put(j, key{j.Ends(), j.Order(), 0})
		}
	}
	return cluster.Never
}

// choose goes through all jobs by what they have left, of equal ones first those that wait,
// and lets in what fits.
func (s *srtf) choose(p *cluster.Pool) {
	s.start, s.stop = s.start[:0], s.stop[:0]
	room, done, rest := p.GPUs(), nobody, s.running.root
	for j := s.waiting.next(nil, room); j != nil; {
		k := *s.waiting.keyOf(j)
		// What is left of a job that runs is its end less this second and the extra one.
		var part int32
		part, rest = s.running.split(rest, &key{k[0] + p.Now() + s.extra, -1, 0})
		room, _, s.stop = s.running.fillPart(part, room, nil, s.stop)
		done = s.running.merge(done, part)
		if j.GPUs <= room {
			room -= j.GPUs
			s.start = append(s.start, j)
		}
		j = s.waiting.next(&k, room)
	}
	_, _, s.stop = s.running.fillPart(rest, room, nil, s.stop)
	s.running.root = s.running.merge(done, rest)
}
