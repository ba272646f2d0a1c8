package schedulers

import (
	"graft/cluster"
	"graft/cluster/treap"
	"graft/internal/events"
)

const (
	roundEvery = 60     // seconds between two decisions
	firstQueue = 18_000 // device-seconds after which a job leaves the first queue
)

// tiresias runs jobs with few attained device-seconds, in two queues, and within each queue by submission (Gu et al.,
// Tiresias: a GPU cluster manager for distributed deep learning, NSDI 2019). It uses the attained service, and no
// durations. It decides once a minute.
//
// Between two rounds without an arrival, an end, or a change of queues or nodes, the same jobs fit: running jobs keep
// their devices, since their order stays the same, and a job that found no nodes still finds none. So it is called only
// after such events. If types of nodes matter, a round without changes must come between, because a stopped job may fit
// on another type, and because a job that accepts several types has one from its start on.
type tiresias struct {
	queues  [2]*treap.Tree
	seq     int64                     // position counter of jobs that start to wait
	had     []attained                // by job number
	leaves  events.Heap[*cluster.Job] // running jobs, by the time at which they would leave the first queue
	changed bool
	moves   int  // changes of nodes before the last call
	typed   bool // types of nodes matter

	start, stop []*cluster.Job
}

// attained is the attained service of a job.
type attained struct {
	before int64         // thousandths of device-seconds before the last start
	since  int64         // second of the last start
	leaves events.Handle // in the heap of jobs that leave the first queue; zero if not in it
	queue  int8          // current queue
}

func newTiresias(s cluster.Setup) (cluster.Scheduler, error) {
	jobs := len(s.Pool.Jobs)
	all := treap.NewArena(jobs)
	return &tiresias{queues: [2]*treap.Tree{all.Tree(), all.Tree()}, had: make([]attained, 0, jobs),
		typed: s.Typed}, nil
}

func (s *tiresias) Arrived(j *cluster.Job) {
	for len(s.had) <= int(j.Number) {
		s.had = append(s.had, attained{})
	}
	s.changed = true
	s.enter(j)
}

func (s *tiresias) Ended(j *cluster.Job) {
	s.changed = true
	s.forget(j)
	s.queueOf(j).Take(j)
	had := &s.had[j.Number] // for a job that arrives again after a failure
	had.before += (j.End - had.since) * j.Demand()
}

func (s *tiresias) queueOf(j *cluster.Job) *treap.Tree { return s.queues[s.had[j.Number].queue] }

// enter inserts a job at its position: running jobs precede waiting jobs.
func (s *tiresias) enter(j *cluster.Job) {
	if j.Running() {
		s.queueOf(j).Put(j, treap.Key{j.Trace.Submit, 0, j.Order()})
		return
	}
	s.queueOf(j).Put(j, treap.Key{j.Trace.Submit, 1, s.seq})
	s.seq++
}

func (s *tiresias) Schedule(p *cluster.Pool) int64 {
	s.demote(p.Now())
	if p.Moves() != s.moves {
		s.moves, s.changed = p.Moves(), true
	}
	if s.changed && p.Now()%roundEvery == 0 {
		s.changed = false
		s.round(p)
	}
	if p.Waiting() == 0 {
		return cluster.Never
	}
	at := p.Now()
	if !s.changed {
		if at = s.nextLeaves(); at == cluster.Never {
			return at
		}
	}
	return max((at+roundEvery-1)/roundEvery, p.Now()/roundEvery+1) * roundEvery
}

// demote moves jobs with enough service to the second queue.
func (s *tiresias) demote(now int64) {
	for s.nextLeaves() <= now {
		_, j, _ := s.leaves.Pop()
		s.had[j.Number].leaves = 0
		s.queueOf(j).Take(j)
		s.had[j.Number].queue = 1
		s.enter(j)
		s.changed = true
	}
}

// round preempts jobs that no longer have priority, and then starts waiting jobs.
func (s *tiresias) round(p *cluster.Pool) {
	s.choose(p)
	s.changed = s.typed && len(s.stop) > 0
	for _, j := range s.stop {
		had := &s.had[j.Number]
		had.before += (p.Now() - had.since) * j.Demand()
		s.forget(j)
		s.queueOf(j).Take(j)
		p.Preempt(j)
		s.enter(j)
	}
	for _, j := range s.start {
		if !p.Start(j) {
			continue
		}
		s.queueOf(j).Take(j)
		s.enter(j)
		s.follow(j, p.Now())
		s.changed = s.typed
	}
}

// choose admits jobs in the order of the queues.
func (s *tiresias) choose(p *cluster.Pool) {
	s.start, s.stop = s.start[:0], s.stop[:0]
	if s.typed {
		rooms := roomsOf(p)
		for _, q := range s.queues {
			for j := q.Next(nil, anyRoom); j != nil; j = q.Next(q.KeyOf(j), anyRoom) {
				s.start, s.stop = rooms.admit(j, s.start, s.stop)
			}
		}
		return
	}
	room := int64(p.GPUs()) * cluster.Whole
	for _, q := range s.queues {
		room, s.start, s.stop = q.Fill(room, s.start, s.stop)
	}
}

// follow records when a started job leaves the first queue.
func (s *tiresias) follow(j *cluster.Job, now int64) {
	had := &s.had[j.Number]
	had.since = now
	if had.queue == 0 {
		at := now + (firstQueue*cluster.Whole-had.before)/j.Demand() + 1
		had.leaves = s.leaves.Push(events.Key{at, int64(j.Number)}, j)
	}
}

// forget removes a stopped job from the heap of jobs that leave the first queue.
func (s *tiresias) forget(j *cluster.Job) {
	if had := &s.had[j.Number]; had.leaves != 0 {
		s.leaves.Remove(had.leaves)
		had.leaves = 0
	}
}

// nextLeaves returns the second at which the next job leaves the first queue.
func (s *tiresias) nextLeaves() int64 {
	if at, _, some := s.leaves.Head(); some {
		return at[0]
	}
	return cluster.Never
}
