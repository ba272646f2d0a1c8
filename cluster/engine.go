package cluster

import (
	"context"
	"fmt"
)

// engine simulates a pool: it advances from one second with an event to the next. The pool's agenda holds the ends of
// the running jobs. Arrivals and changes of nodes are sorted lists, and the scheduler has one wake-up, so these need no
// heap.
type engine struct {
	pool    *Pool
	jobs    []*Job // in order of arrival
	next    int    // index of the next job to arrive
	changes []NodeChange
	sched   Scheduler
	until   int64    // the simulation runs at least up to this second
	each    func()   // called before time advances; may be nil
	outages *outages // failures and drains of nodes; nil if there are none

	ended          int // number of jobs
	handled, asked int64
	vain           int // calls of the scheduler since a job last ran or an event was pending
}

// interruptible is the number of simulated seconds between two checks of the context.
const interruptible = 1 << 12

func (e *engine) run(ctx context.Context) error {
	wake := Never
	for round := 0; e.ended < len(e.jobs) || e.pool.Now() < e.until; round++ {
		if round%interruptible == 0 && ctx.Err() != nil {
			return fmt.Errorf("simulate: %w", ctx.Err())
		}
		now := max(e.pool.Now(), min(wake, e.pool.agenda.Next(), e.arrival(), e.change(), e.outages.next()))
		if e.ended == len(e.jobs) {
			now = min(now, e.until)
		} else if now == Never || e.inVain() {
			return e.stuck()
		}
		var err error
		if wake, err = e.second(now); err != nil {
			return err
		}
	}
	return nil
}

// second handles all events of a second: ends of jobs, then arrivals, then the scheduler, then changes and failures of
// nodes. It returns the second of the scheduler's wake-up.
func (e *engine) second(now int64) (wake int64, err error) {
	if e.each != nil {
		e.each()
	}
	e.pool.advance(now)
	e.finish()
	e.outages.arrive(e)
	e.arrive()
	wake = e.schedule()
	if e.change() <= now && e.pool.fault == nil {
		e.changeNodes()
		wake = now + 1
	}
	if e.outages.apply(e) {
		wake = now + 1
	}
	switch {
	case e.pool.fault != nil:
		return 0, e.pool.fault
	case wake <= now:
		return 0, fmt.Errorf("second %d: the scheduler requested its next call at second %d; expected a later "+
			"second, or Never", now, wake)
	}
	return wake, nil
}

func (e *engine) finish() {
	for e.pool.agenda.Next() <= e.pool.Now() {
		j, _ := e.pool.agenda.Step()
		j.running.ending = 0
		e.pool.finish(j)
		e.ended++
		e.handled++
		e.sched.Ended(j)
	}
}

func (e *engine) arrival() int64 {
	if e.next == len(e.jobs) {
		return Never
	}
	return e.jobs[e.next].Arrival
}

func (e *engine) arrive() {
	for ; e.arrival() <= e.pool.Now(); e.next++ {
		j := e.jobs[e.next]
		e.pool.wait(j)
		e.handled++
		e.sched.Arrived(j)
	}
}

func (e *engine) change() int64 {
	if len(e.changes) == 0 {
		return Never
	}
	return e.changes[0].At
}

func (e *engine) changeNodes() {
	for ; e.change() <= e.pool.Now(); e.changes = e.changes[1:] {
		e.changes[0].Apply(e.pool)
	}
}

// schedule calls the scheduler, and repeats the call while jobs end in the second of their start.
func (e *engine) schedule() (wake int64) {
	for {
		e.asked++
		wake = e.sched.Schedule(e.pool)
		check(e.pool)
		if e.pool.agenda.Next() > e.pool.Now() || e.pool.fault != nil {
			return wake
		}
		e.finish()
	}
}

// patience is the number of scheduler calls without effect after which a simulation fails if no job runs and none will
// arrive. A scheduler that waits for the next full minute needs fewer calls.
const patience = 1 << 20

// starvation replaces patience if nodes fail: changes of nodes wake the scheduler again and again.
const starvation = 1 << 16

// inVain reports whether the scheduler was called too often without starting a job.
func (e *engine) inVain() bool {
	e.vain++
	if e.pool.running > 0 || e.next < len(e.jobs) || len(e.changes) > 0 {
		e.vain = 0
	}
	if e.outages != nil {
		return e.vain > starvation
	}
	return e.vain > patience
}

// stuck returns the error for jobs that wait although no events are pending.
func (e *engine) stuck() error {
	if e.outages != nil {
		return fmt.Errorf("second %d: %d jobs are waiting that never find enough nodes in service at the same time; "+
			"give all outages an end, add spare nodes, or remove jobs that need almost all nodes", e.pool.Now(),
			len(e.jobs)-e.ended)
	}
	return fmt.Errorf("second %d: %d jobs are waiting, no jobs are running and no more jobs will arrive; the "+
		"scheduler must start a job, or return the time of its next call", e.pool.Now(), len(e.jobs)-e.ended)
}
