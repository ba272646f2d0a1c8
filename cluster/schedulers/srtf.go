package schedulers

import (
	"cmp"
	"slices"

	"graft/cluster"
	"graft/cluster/treap"
)

// srtf runs the jobs with the least remaining work, and preempts others for them. It uses true durations. If time
// limits are enforced, the rest of a job's limit counts if it is shorter.
//
// Running jobs approach their ends and waiting jobs do not, so their order changes all the time. But when a running job
// overtakes a waiting one, the same jobs fit as before: either both were admitted, or the waiting one was not and now
// has less room. So srtf decides only after a job arrived or ended. Running jobs keep their relative order, which is
// the order of their ends, and waiting jobs keep theirs, so srtf merges two sorted orders. If types of nodes matter, it
// also decides in the second after each change, because a stopped job may fit on another type, and because a job that
// accepts several types has one from its start on.
type srtf struct {
	running *treap.Tree // by end
	waiting *treap.Tree // by remaining work
	seq     int64
	extra   int64 // seconds that jobs keep their devices after their work is done
	typed   bool  // types of nodes matter, or rates of running jobs change
	study   *cluster.Study

	start, stop []*cluster.Job
}

func newSRTF(s cluster.Setup) (cluster.Scheduler, error) {
	all := treap.NewArena(len(s.Pool.Jobs))
	return &srtf{running: all.Tree(), waiting: all.Tree(), extra: s.Extra, typed: s.Typed || s.Linked,
		study: s.Study}, nil
}

func (s *srtf) Arrived(j *cluster.Job) { s.wait(j, int64(s.study.Rest(j))) }

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
	changed := len(s.stop) > 0
	for _, j := range s.stop {
		s.running.Take(j)
		p.Preempt(j)
		s.wait(j, int64(p.Rest(j)))
	}
	for _, j := range s.start {
		if p.Start(j) {
			s.waiting.Take(j)
			s.running.Put(j, treap.Key{j.Ends(), j.Order(), 0})
			changed = true
		}
	}
	if s.typed && changed {
		return p.Now() + 1
	}
	return cluster.Never
}

// choose visits all jobs by remaining work, waiting jobs first on a tie, and admits jobs that fit.
func (s *srtf) choose(p *cluster.Pool) {
	s.start, s.stop = s.start[:0], s.stop[:0]
	if s.typed {
		s.chooseTyped(p)
		return
	}
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

// chooseTyped is choose if types of nodes matter or rates change. It visits each job. Jobs on slow nodes have later
// ends than others with the same remaining work, so running jobs are sorted again.
func (s *srtf) chooseTyped(p *cluster.Pool) {
	rooms := roomsOf(p)
	waiting := s.waiting.Next(nil, anyRoom)
	wait := func(until int64) {
		for ; waiting != nil && s.waiting.KeyOf(waiting)[0] <= until; waiting = s.waiting.Next(
			s.waiting.KeyOf(waiting), anyRoom) {
			s.start, s.stop = rooms.admit(waiting, s.start, s.stop)
		}
	}
	left := map[*cluster.Job]int64{}
	for j := range p.Running() {
		left[j] = int64(p.Rest(j))
	}
	for _, j := range slices.SortedStableFunc(p.Running(), func(a, b *cluster.Job) int {
		return cmp.Compare(left[a], left[b])
	}) {
		wait(left[j])
		s.start, s.stop = rooms.admit(j, s.start, s.stop)
	}
	wait(cluster.Never)
}
