package cluster

import (
	"math"
	"math/bits"
	"slices"

	"graft/cluster/failures"
	"graft/internal/events"
)

// outages applies the failures and drains of a pool's nodes. A job that loses its devices ends for the scheduler, and
// arrives again when it waits again, so schedulers need no code for failures.
type outages struct {
	*Failures
	feed    *failures.Feed
	states  []nodeState
	target  int               // number of nodes in service, if enough nodes work
	serving int               // number of nodes in service
	delayed events.Heap[*Job] // jobs in their restart delays, by end
	came    int64             // number of delayed jobs so far
	records []NodeOutage      // in order of their beginnings
	// outages of the other jobs' pool, which selects the spare nodes; nil unless these are outages for spot jobs
	lead *outages
}

// nodeState is the state of a node.
type nodeState struct {
	failures, drains int     // number of current failures and drains
	spare            bool    // in reserve
	failed, drained  int     // positions of the current records
	planned          []int64 // beginnings of further drains, ascending
}

func (s *nodeState) works() bool { return s.failures == 0 && s.drains == 0 }

// newOutages prepares a pool. Changes before the simulation begins happen at once.
func newOutages(f *Failures, pr *PoolRun, e *engine) *outages {
	schedule := f.Pools[pr.Name]
	o := &outages{Failures: f, feed: failures.NewFeed(schedule), states: make([]nodeState, pr.Nodes+f.Spares),
		target: pr.Nodes, serving: pr.Nodes}
	for k := pr.Nodes; k < len(o.states); k++ {
		o.states[k].spare = true
		e.pool.nodes.setOut(k, outSpare, true)
	}
	for _, d := range schedule.Drains {
		if d.Node < len(o.states) {
			o.states[d.Node].planned = append(o.states[d.Node].planned, d.From)
		}
	}
	for k := range o.states {
		slices.Sort(o.states[k].planned)
		o.plan(e.pool, k)
	}
	for o.feed.Next() < e.pool.Now() {
		o.change(e, o.feed.Take())
	}
	o.forget(e.pool.Now())
	return o
}

// forget removes the records of outages that ended before the simulation begins.
func (o *outages) forget(begin int64) {
	var kept []NodeOutage
	for k, r := range o.records {
		if r.To <= begin {
			continue
		}
		s := &o.states[r.Node]
		if s.failures > 0 && s.failed == k {
			s.failed = len(kept)
		}
		if s.drains > 0 && s.drained == k {
			s.drained = len(kept)
		}
		kept = append(kept, r)
	}
	o.records = kept
}

// foresee sets the ends of outages that end after the simulation, as planned.
func (o *outages) foresee(s failures.Schedule, now int64) {
	last := now + s.Period
	for _, list := range [][]failures.Outage{s.Listed, s.Drains, s.Sudden} {
		for _, one := range list {
			if one.To < Never {
				last = max(last, one.To)
			}
		}
	}
	known := len(o.records)
	for o.feed.Next() <= last {
		c := o.feed.Take()
		if c.Node >= len(o.states) {
			continue
		}
		s := &o.states[c.Node]
		switch c.What {
		case failures.Fails:
			if s.failures++; s.failures == 1 {
				s.failed = known
			}
		case failures.Drains:
			if s.drains++; s.drains == 1 {
				s.drained = known
			}
		case failures.Recovers:
			if s.failures--; s.failures == 0 && s.failed < known {
				o.records[s.failed].To = c.At
			}
		case failures.Drained:
			if s.drains--; s.drains == 0 && s.drained < known {
				o.records[s.drained].To = c.At
			}
		}
	}
}

// next returns the second of the next change of a node or of the next end of a restart delay.
func (o *outages) next() int64 {
	if o == nil {
		return Never
	}
	at := o.feed.Next()
	if k, _, some := o.delayed.Head(); some {
		at = min(at, k[0])
	}
	return at
}

// apply applies the changes of the current second, and reports whether there were any.
func (o *outages) apply(e *engine) (changed bool) {
	if o == nil {
		return false
	}
	for o.feed.Next() <= e.pool.Now() && e.pool.fault == nil {
		o.change(e, o.feed.Take())
		changed = true
	}
	if changed && o.lead != nil {
		o.follow(e.pool)
	}
	return changed
}

// follow selects the same spare nodes as the pool of the other jobs.
func (o *outages) follow(p *Pool) {
	for k := range o.states {
		if s := &o.states[k]; s.spare != o.lead.states[k].spare {
			s.spare = !s.spare
			p.nodes.setOut(k, outSpare, s.spare)
		}
	}
}

// arrive lets jobs wait again whose restart delays have ended.
func (o *outages) arrive(e *engine) {
	if o == nil {
		return
	}
	for {
		k, j, some := o.delayed.Head()
		if !some || k[0] > e.pool.Now() {
			return
		}
		o.delayed.Pop()
		requeue(e, j)
	}
}

// requeue lets a job wait that had ended for its scheduler.
func requeue(e *engine, j *Job) {
	j.End = Never
	e.pool.wait(j)
	e.sched.Arrived(j)
}

// change applies a change of a node. Nodes that the policy has removed from the pool keep their states.
func (o *outages) change(e *engine, c failures.Change) {
	if c.Node >= len(o.states) {
		return
	}
	s := &o.states[c.Node]
	served := s.works() && !s.spare
	switch c.What {
	case failures.Fails:
		if s.failures++; s.failures == 1 {
			s.failed = o.begin(e, c, failures.Failure, o.fail(e, c.Node))
			e.pool.nodes.setOut(c.Node, outFailed, true)
		}
	case failures.Recovers:
		if s.failures--; s.failures == 0 {
			o.records[s.failed].To = c.At
			e.pool.nodes.setOut(c.Node, outFailed, false)
		}
	case failures.Blinks:
		if s.failures == 0 {
			at := o.begin(e, c, failures.Failure, o.fail(e, c.Node))
			o.records[at].To = c.At
		}
	case failures.Drains:
		if s.drains++; s.drains == 1 {
			kind := failures.Drain
			if c.Sudden {
				kind = failures.UnannouncedDrain
			}
			s.drained = o.begin(e, c, kind, o.drain(e, c.Node))
			e.pool.nodes.setOut(c.Node, outDrained, true)
		}
	case failures.Drained:
		if s.drains--; s.drains == 0 {
			o.records[s.drained].To = c.At
			e.pool.nodes.setOut(c.Node, outDrained, false)
		}
		for len(s.planned) > 0 && s.planned[0] <= c.At {
			s.planned = s.planned[1:]
		}
		o.plan(e.pool, c.Node)
	}
	if o.lead == nil {
		o.balance(e, c.Node, served)
	}
}

// begin adds a record, and returns its position.
func (o *outages) begin(e *engine, c failures.Change, kind string, jobs int) int {
	o.records = append(o.records, NodeOutage{c.Node, c.At, Never, kind, c.Class, jobs})
	return len(o.records) - 1
}

// plan announces the next drain of a node, for which jobs must have ended.
func (o *outages) plan(p *Pool, name int) {
	nd := p.nodes.find(name)
	if nd == nil {
		return
	}
	nd.drain = Never
	if s := &o.states[name]; len(s.planned) > 0 {
		nd.drain = s.planned[0]
		p.nodes.drains = true
	}
}

// balance replaces a node that left the service by a spare node, and puts a node that works again into reserve if
// enough nodes are in service.
func (o *outages) balance(e *engine, name int, served bool) {
	s := &o.states[name]
	switch serves := s.works() && !s.spare; {
	case served && !serves:
		o.serving--
	case !served && serves && o.serving == o.target:
		s.spare = true
		e.pool.nodes.setOut(name, outSpare, true)
	case !served && serves:
		o.serving++
	}
	for o.serving < o.target {
		k := o.spareNode(e.pool)
		if k < 0 {
			return
		}
		o.states[k].spare = false
		e.pool.nodes.setOut(k, outSpare, false)
		o.serving++
	}
}

// spareNode returns the first spare node that works and, if possible, is idle; -1 if there is none. A node that returns
// from a drain can be a spare node although the jobs that outlasted the drain still run on it.
func (o *outages) spareNode(p *Pool) int {
	busy := -1
	for k := 0; k < len(o.states) && o.Spares > 0; k++ {
		s := &o.states[k]
		if !s.spare || !s.works() {
			continue
		}
		if nd := p.nodes.find(k); nd == nil || nd.jobs == 0 {
			return k
		}
		if busy < 0 {
			busy = k
		}
	}
	return busy
}

// mostFailures is the number of failures of a job after which a simulation fails: without checkpoints, or if it repeats
// work each time that it shrinks and grows, a long job may never reach its end.
const mostFailures = 10_000

// fail stops or shrinks the jobs on a node that fails. It returns their number.
func (o *outages) fail(e *engine, name int) int {
	jobs := e.pool.on(name)
	for _, j := range jobs {
		lost := e.pool.unsaved(j, o.Checkpoint)
		l := j.loses()
		if l.Failures++; l.Failures > mostFailures {
			e.pool.fail("failures hit job %s %d times, and its work left is %.0f s; set a checkpoint interval that is "+
				"shorter than the time between failures, or give all outages an end", j.Trace.ID, mostFailures, j.work)
		}
		l.Work += lost
		if sched, can := e.sched.(Shrinker); can && o.Shrink && !j.fixed && j.Partner() == nil && len(j.Nodes) > 1 {
			e.pool.shrink(j, name, lost, o.Restart)
			sched.Shrunk(e.pool, j)
			continue
		}
		l.Delay += o.Restart
		l.Restarts++
		e.pool.interrupt(j, lost, "fail")
		e.sched.Ended(j)
		if o.Restart == 0 {
			requeue(e, j)
			continue
		}
		o.delayed.Push(events.Key{e.pool.Now() + o.Restart, o.came}, j)
		o.came++
	}
	return len(jobs)
}

// drain preempts the jobs on a node, if the option is set. It returns their number.
func (o *outages) drain(e *engine, name int) int {
	if !o.Preempt {
		return 0
	}
	jobs := e.pool.on(name)
	for _, j := range jobs {
		lost := e.pool.speed.Lost(j)
		e.pool.settle(j)
		j.Preemptions++
		e.pool.interrupt(j, lost, "preempt")
		e.sched.Ended(j)
		requeue(e, j)
	}
	return len(jobs)
}

// on returns the jobs that run on a node, in the order of their starts.
func (p *Pool) on(name int) (jobs []*Job) {
	if nd := p.nodes.find(name); nd == nil || nd.jobs == 0 {
		return nil
	}
	for j := range p.Running() {
		if slices.ContainsFunc(j.Nodes, func(s Share) bool { return s.Node == name }) {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// unsaved settles a job, and returns its work since its last checkpoint. A job saves a checkpoint after each interval
// of work since its last start or resize; zero means never.
func (p *Pool) unsaved(j *Job, every int64) float64 {
	p.settle(j)
	done := max(0, j.running.saved-max(0, j.work))
	if every > 0 {
		done = math.Mod(done, float64(every))
	}
	return done
}

// interrupt takes all devices from a settled job, which repeats some work. For its scheduler, the job has ended.
func (p *Pool) interrupt(j *Job, lost float64, what string) {
	other := j.Partner()
	p.stop(j)
	j.GPUs, j.End = int(j.asked), p.Now()
	p.repeat(j, lost)
	p.tell(j, what)
	p.unpack(other)
	p.relink()
}

// shrink takes the devices on a node from a settled job, which repeats some work and continues on its other nodes after
// a delay. During the delay it holds its devices.
func (p *Pool) shrink(j *Job, name int, lost float64, delay int64) {
	p.nodes.at(j)
	var kept, gone []Share
	for _, s := range j.Nodes {
		if s.Node == name {
			gone = append(gone, s)
		} else {
			kept = append(kept, s)
		}
	}
	p.nodes.release(gone)
	j.Nodes, j.GPUs = kept, j.GPUs-devicesOf(gone)
	p.repeat(j, lost)
	p.given(j)
	j.running.saved = j.work
	p.delay(j, p.Now()+delay)
	rate, _ := p.rates(j)
	p.setRate(j, rate)
	p.tell(j, "resize")
	p.relink()
}

// delay lets a settled job continue its work at a second, with its devices.
func (p *Pool) delay(j *Job, until int64) {
	if more := until - j.running.since; more > 0 {
		j.running.since = until
		j.loses().Delay += more
	}
}

func devicesOf(shares []Share) (n int) {
	for _, s := range shares {
		n += bits.OnesCount64(s.GPUs)
	}
	return n
}
