package cluster

import (
	"context"
	"fmt"

	"graft/events"
)

// eventKind is the kind of an event of a pool, and its priority among those of a second.
type eventKind int

const (
	jobEnds eventKind = iota
	jobArrives
	schedulerWakes
	nodesChange
)

// event is something that happens in a pool.
type event struct {
	kind eventKind
	job  *Job // that ends; nil for other kinds
}

// engine simulates a pool: it takes event after event from the pool's agenda, which holds the
// ends of the jobs that run, the next arrival, the next change of nodes and the scheduler's
// wake-up.
type engine struct {
	pool    *Pool
	jobs    []*Job // in the order of arrival
	next    int    // the next job to arrive
	changes []NodeChange
	sched   Scheduler
	arrival events.Handle // of the next job; zero if none will come
	nodes   events.Handle // of the next change of nodes; zero if none will come
	wake    events.Handle // zero if the scheduler wants no wake-up
	until   int64         // the simulation goes on at least up to here
	each    func()        // called before time goes on; nil for nothing

	ended          int // jobs
	handled, asked int64
	vain           int // calls of the scheduler since a job ran or something was to come
}

// interruptible is the number of simulated seconds between two looks at the context.
const interruptible = 1 << 12

// run simulates until all jobs have ended.
func (e *engine) run(ctx context.Context) error {
	e.expectArrival()
	e.expectNodes()
	for round := 0; e.ended < len(e.jobs) || e.pool.Now() < e.until; round++ {
		if round%interruptible == 0 && ctx.Err() != nil {
			return fmt.Errorf("simulate: %w", ctx.Err())
		}
		if e.ended == len(e.jobs) {
			e.wakeAt(min(e.until, e.pool.agenda.Next()))
		} else if e.pool.agenda.Next() == Never || e.inVain() {
			return e.stuck()
		}
		if err := e.second(); err != nil {
			return err
		}
	}
	return nil
}

// second handles all events of the next second that has one.
func (e *engine) second() error {
	now := e.pool.agenda.Next()
	if e.each != nil {
		e.each()
	}
	e.pool.advance(now)
	e.drain()
	wake := e.schedule()
	if at, _, _ := e.pool.agenda.Peek(); at <= now && e.pool.fault == nil {
		e.changeNodes()
		wake = now + 1
	}
	switch {
	case e.pool.fault != nil:
		return e.pool.fault
	case wake <= now:
		return fmt.Errorf("at second %d the scheduler asks to be called again at %d; that must be later, or Never", now, wake)
	}
	e.wakeAt(wake)
	return nil
}

// drain handles the events of this second, up to changes of nodes: these come last.
func (e *engine) drain() {
	for {
		at, next, _ := e.pool.agenda.Peek()
		if at > e.pool.Now() || next.kind == nodesChange {
			return
		}
		switch next.kind {
		case jobEnds:
			e.pool.agenda.Step()
			e.finish(next.job)
		case jobArrives:
			e.arrive()
		case schedulerWakes:
			e.wakeAt(Never)
		}
	}
}

// finish ends a job.
func (e *engine) finish(j *Job) {
	j.ending = 0
	e.pool.finish(j)
	e.ended++
	e.handled++
	e.sched.Ended(j)
}

// arrive queues the jobs that arrive now.
func (e *engine) arrive() {
	for ; e.next < len(e.jobs) && e.jobs[e.next].Arrival <= e.pool.Now(); e.next++ {
		j := e.jobs[e.next]
		e.pool.wait(j)
		e.handled++
		e.sched.Arrived(j)
	}
	e.expectArrival()
}

func (e *engine) expectArrival() {
	at := Never
	if e.next < len(e.jobs) {
		at = e.jobs[e.next].Arrival
	}
	e.expect(&e.arrival, jobArrives, at)
}

// expect moves an event that recurs to a second, or drops it if that is Never.
func (e *engine) expect(handle *events.Handle, kind eventKind, at int64) {
	switch {
	case *handle == 0 && at < Never:
		*handle = e.pool.agenda.Schedule(at, int(kind), event{kind: kind})
	case *handle != 0 && at < Never:
		e.pool.agenda.Reschedule(*handle, at)
	case *handle != 0:
		e.pool.agenda.Cancel(*handle)
		*handle = 0
	}
}

// changeNodes applies the changes of nodes that are due.
func (e *engine) changeNodes() {
	for ; len(e.changes) > 0 && e.changes[0].At <= e.pool.Now(); e.changes = e.changes[1:] {
		e.changes[0].Apply(e.pool)
	}
	e.expectNodes()
}

func (e *engine) expectNodes() {
	at := Never
	if len(e.changes) > 0 {
		at = e.changes[0].At
	}
	e.expect(&e.nodes, nodesChange, at)
}

// schedule calls the scheduler, and again as long as jobs end in the second of their start.
func (e *engine) schedule() (wake int64) {
	for {
		e.asked++
		wake = e.sched.Schedule(e.pool)
		check(e.pool)
		at, next, _ := e.pool.agenda.Peek()
		if at > e.pool.Now() || next.kind != jobEnds || e.pool.fault != nil {
			return wake
		}
		e.drain()
	}
}

// wakeAt sets the second at which the scheduler is called although nothing happens.
func (e *engine) wakeAt(second int64) { e.expect(&e.wake, schedulerWakes, second) }

// patience is the number of calls of the scheduler without effect after which a simulation
// fails: no job runs and none will come. A scheduler that waits for the next full minute needs
// fewer.
const patience = 1 << 20

// inVain reports whether the scheduler was called too often without starting a job.
func (e *engine) inVain() bool {
	e.vain++
	if e.pool.running > 0 || e.next < len(e.jobs) || len(e.changes) > 0 {
		e.vain = 0
	}
	return e.vain > patience
}

// stuck is the error of jobs that wait although nothing will happen any more.
func (e *engine) stuck() error {
	return fmt.Errorf("at second %d %d jobs wait, none runs and none will come; the scheduler must start one, or say when to call it again", e.pool.Now(), len(e.jobs)-e.ended)
}
