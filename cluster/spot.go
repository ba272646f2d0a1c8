package cluster

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Spot lets a cluster evict the spot jobs of a trace (see [trace.Job]). Each pool then has two schedulers of its
// policy. The first schedules the other jobs as if the spot jobs did not exist. The second acts after the first, and
// schedules the spot jobs on the devices that the first left free. If the first scheduler gives a job the devices of
// spot jobs, these are evicted: they keep their devices until their notice ends, and the other job starts its work
// then.
type Spot struct {
	Notice int64 // seconds from the notice of an eviction to the eviction
	// seconds that a job needs to write a checkpoint; if the notice is at least as long, an evicted job loses no work
	Save int64
	// work between two checkpoints of a job, in seconds at rate 1; zero means that a job has no checkpoint except its
	// state at its last start
	Checkpoint int64
}

// spots simulates the spot jobs of a pool.
type spots struct {
	*Spot
	engine  *engine
	noticed []*Job // jobs with a notice, in order of its end
}

// due returns the second of the next event of the spot jobs.
func (s *spots) due() int64 {
	if s == nil {
		return Never
	}
	at := s.engine.due()
	if len(s.noticed) > 0 {
		at = min(at, s.noticed[0].losses.notice)
	}
	return at
}

// begin ends the jobs whose work is done, and evicts the jobs whose notice ends.
func (s *spots) begin(now int64) {
	s.engine.finish()
	for len(s.noticed) > 0 && s.noticed[0].losses.notice <= now {
		j := s.noticed[0]
		s.noticed = s.noticed[1:]
		if j.Running() && j.losses.notice > 0 { // otherwise it ended, or its scheduler preempted it
			s.evict(j)
		}
	}
}

// attach makes the nodes of the other jobs lend their free devices to the spot jobs.
func (s *spots) attach(p *Pool) {
	p.spots = s
	own := s.engine.pool.nodes
	own.lends = true
	p.nodes.lower, p.nodes.claimed = own, s.claim
	for _, nd := range own.list {
		nd.lentUsed = make([]int64, len(own.limits))
	}
}

// claim takes the devices and resources of a node that other jobs use away from the spot jobs.
func (s *spots) claim(upper *node) {
	n := s.engine.pool.nodes
	nd := n.find(upper.name)
	n.leave(nd)
	taken := nd.all &^ upper.free
	more := taken &^ nd.lent
	if taken != nd.lent {
		n.moves++
	}
	nd.lent = taken
	nd.free = nd.all &^ (nd.own | nd.lent)
	n.enter(nd)
	for k, used := range upper.used {
		nd.used[k] += used - nd.lentUsed[k]
		nd.lentUsed[k] = used
	}
	if nd.own&more != 0 {
		for _, j := range s.engine.pool.on(nd.name) {
			if overlaps(j, nd.name, more) {
				s.notify(j)
			}
		}
	}
	s.relieve(nd)
}

// relieve evicts the spot jobs that started last while a node lacks resources other than devices. Jobs with a notice
// leave first.
func (s *spots) relieve(nd *node) {
	limits := s.engine.pool.nodes.limitsOf(nd)
	if Fits(nd.used, nd.used, limits, 0) {
		return
	}
	left, jobs := slices.Clone(nd.used), s.engine.pool.on(nd.name)
	noticed := func(j *Job) bool { return j.Lost().notice > 0 }
	for _, j := range jobs {
		if noticed(j) {
			j.give(left, nd.name)
		}
	}
	for _, j := range slices.Backward(jobs) {
		if Fits(left, left, limits, 0) {
			return
		}
		if !noticed(j) {
			j.give(left, nd.name)
			s.notify(j)
		}
	}
}

// give subtracts the resources of a job on a node from the used ones.
func (j *Job) give(used []int64, node int) {
	for _, share := range j.Nodes {
		for k := range used {
			if share.Node == node {
				used[k] -= j.beside.wants[k] * int64(bits.OnesCount64(share.GPUs))
			}
		}
	}
}

func overlaps(j *Job, name int, devices uint64) bool {
	return slices.ContainsFunc(j.Nodes, func(s Share) bool { return s.Node == name && s.GPUs&devices != 0 })
}

// notify gives a job the notice of its eviction, unless it has one.
func (s *spots) notify(j *Job) {
	l := j.loses()
	switch {
	case l.notice > 0:
	case s.Notice == 0:
		s.evict(j)
	default:
		l.notice = s.engine.pool.Now() + s.Notice
		// an earlier notice of a job that was preempted since then would end first
		s.noticed = slices.DeleteFunc(s.noticed, func(other *Job) bool { return other == j })
		s.noticed = append(s.noticed, j)
	}
}

// evict stops a job, which waits again.
func (s *spots) evict(j *Job) {
	p, l := s.engine.pool, j.loses()
	lost := p.unsaved(j, s.Checkpoint)
	if s.Notice >= s.Save {
		lost = 0
	}
	l.Evictions++
	l.Evicted += lost
	p.interrupt(j, lost, "evict")
	s.engine.sched.Ended(j)
	requeue(s.engine, j)
}

// delay returns the seconds until the evicted spot jobs on the devices of another job are gone.
func (s *spots) delay(to *Job) (delay int64) {
	if s == nil {
		return 0
	}
	p := s.engine.pool
	for _, j := range s.noticed {
		if !j.Running() || j.losses.notice == 0 {
			continue
		}
		for _, share := range to.Nodes {
			devices := share.GPUs
			if len(p.nodes.limits) > 0 {
				devices = math.MaxUint64 // the job may wait for other resources of the node
			}
			if overlaps(j, share.Node, devices) {
				delay = max(delay, min(j.losses.notice, j.Ends())-p.Now())
			}
		}
	}
	return delay
}

// check reports devices that a spot job uses together with another job without a notice.
func (s *spots) check(upper *Nodes) error {
	if s == nil {
		return nil
	}
	p := s.engine.pool
	for _, nd := range p.nodes.list {
		if above := upper.find(nd.name); above == nil || nd.lent != nd.all&^above.free {
			return fmt.Errorf("node %d lends devices %b to spot jobs, which differ from its free devices", nd.name,
				nd.all&^nd.lent)
		} else if above.out != nd.out {
			return fmt.Errorf("node %d is in service for only some jobs: spot jobs do not have the failures, drains "+
				"and spare nodes of the other jobs", nd.name)
		}
		for _, j := range p.on(nd.name) {
			if overlaps(j, nd.name, nd.lent) && j.Lost().notice <= p.Now() {
				return fmt.Errorf("spot job %s uses devices of another job on node %d", j.Trace.ID, nd.name)
			}
		}
	}
	return p.Check()
}
