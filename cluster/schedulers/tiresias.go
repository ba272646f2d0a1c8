package schedulers

import (
	"container/heap"

	"graft/cluster"
)

const (
	roundEvery = 60     // seconds between two decisions
	firstQueue = 18_000 // device-seconds after which a job leaves the first queue
)

// tiresias gives devices to jobs that have had few device-seconds so far, in two queues, and
// within each to those that were submitted first (Gu et al., Tiresias: a GPU cluster manager
// for distributed deep learning, NSDI 2019). What a job has had is known, what it will need
// is not. It decides once a minute.
//
// Between two rounds in which nothing arrived, ended or changed its queue, the same jobs fit:
// those that run and had a place keep it, since they stand where they stood, and a job that
// found no nodes finds none. So it is asked only where something happened.
type tiresias struct {
	queues  [2]*order
	seq     int64      // of those that came to wait
	had     []attained // by number
	leaves  departures
	changed bool
	gpus    int // that there were when it was asked last

	start, stop []*cluster.Job
}

// attained is what a job has had.
type attained struct {
	before int64 // device-seconds, before it was started last
	since  int64 // second of that start
	stint  int32 // how often it was started
	queue  int8  // that it is in
}

func newTiresias(cluster.Setup) (cluster.Scheduler, error) {
	all := &shelf{}
	return &tiresias{queues: [2]*order{all.order(), all.order()}}, nil
}

func (s *tiresias) Arrived(j *cluster.Job) {
	for len(s.had) <= j.Number {
		s.had = append(s.had, attained{})
	}
	s.changed = true
	s.enter(j)
}

func (s *tiresias) Ended(j *cluster.Job) {
	s.changed = true
	s.queueOf(j).take(j)
}

func (s *tiresias) queueOf(j *cluster.Job) *order { return s.queues[s.had[j.Number].queue] }

// enter puts a job where it belongs: those that run stand before those that wait.
func (s *tiresias) enter(j *cluster.Job) {
	if j.Running() {
		s.queueOf(j).put(j, key{j.Trace.Submit, 0, j.Order()})
		return
	}
	s.queueOf(j).put(j, key{j.Trace.Submit, 1, s.seq})
	s.seq++
}

func (s *tiresias) Schedule(p *cluster.Pool) int64 {
	s.demote(p.Now())
	if p.GPUs() != s.gpus {
		s.gpus, s.changed = p.GPUs(), true
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
		if at = s.leaves.next(s); at == cluster.Never {
			return at
		}
	}
	return max((at+roundEvery-1)/roundEvery, p.Now()/roundEvery+1) * roundEvery
}

// demote moves jobs that have had enough into the second queue.
func (s *tiresias) demote(now int64) {
	for s.leaves.next(s) <= now {
		j := heap.Pop(&s.leaves).(departure).job
		s.queueOf(j).take(j)
		s.had[j.Number].queue = 1
		s.enter(j)
		s.changed = true
	}
}

// round takes devices from those that have no claim any more, and then gives them to those
// that waited.
func (s *tiresias) round(p *cluster.Pool) {
	room := p.GPUs()
	s.start, s.stop = s.start[:0], s.stop[:0]
	for _, q := range s.queues {
		room, s.start, s.stop = q.fill(room, s.start, s.stop)
	}
	for _, j := range s.stop {
		had := &s.had[j.Number]
		had.before += (p.Now() - had.since) * int64(j.GPUs)
		s.queueOf(j).take(j)
		p.Preempt(j, lost(j))
		s.enter(j)
	}
	for _, j := range s.start {
		if !p.Start(j) {
			continue
		}
		s.queueOf(j).take(j)
		s.enter(j)
		s.follow(j, p.Now())
	}
}

// follow notes when a job that was started leaves the first queue.
func (s *tiresias) follow(j *cluster.Job, now int64) {
	had := &s.had[j.Number]
	had.since = now
	had.stint++
	if had.queue == 0 {
		at := now + (firstQueue-had.before)/int64(j.GPUs) + 1
		heap.Push(&s.leaves, departure{at, j, had.stint})
	}
}

// departure is a job that leaves the first queue if it runs on until then.
type departure struct {
	at    int64
	job   *cluster.Job
	stint int32
}

type departures []departure

// next is when the next job leaves the first queue; those that do not run any more are
// forgotten.
func (d *departures) next(s *tiresias) int64 {
	for len(*d) > 0 {
		first := (*d)[0]
		if first.job.Running() && s.had[first.job.Number].stint == first.stint {
			return first.at
		}
		heap.Pop(d)
	}
	return cluster.Never
}

func (d departures) Len() int           { return len(d) }
func (d departures) Less(a, b int) bool { return d[a].at < d[b].at }
func (d departures) Swap(a, b int)      { d[a], d[b] = d[b], d[a] }
func (d *departures) Push(x any)        { *d = append(*d, x.(departure)) }
func (d *departures) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	*d = (*d)[:last]
	return x
}
