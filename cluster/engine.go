package cluster

import (
	"context"
	"fmt"

	"graft/internal/words"
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
	spot    *spots   // spot jobs, which act after the other jobs; nil if they are not evicted
	wake    int64    // second of the next call that the scheduler requested

	ended          int // number of jobs
	handled, asked int64
	vain           int // calls of the scheduler since a job last ran or an event was pending
}

// interruptible is the number of simulated seconds between two checks of the context.
const interruptible = 1 << 12

func (e *engine) run(ctx context.Context) error {
	for round := 0; e.left() > 0 || e.pool.Now() < e.until; round++ {
		if round%interruptible == 0 && ctx.Err() != nil {
			return fmt.Errorf("simulate: %w", ctx.Err())
		}
		now := max(e.pool.Now(), min(e.due(), e.spot.due()))
		if e.left() == 0 {
			now = min(now, e.until)
		} else if now == Never || e.inVain() {
			return e.stuck()
		}
		if err := e.second(now); err != nil {
			return err
		}
	}
	return nil
}

// due returns the second of the next event or wake-up.
func (e *engine) due() int64 {
	return min(e.wake, e.pool.agenda.Next(), e.arrival(), e.change(), e.outages.next())
}

// left returns the number of jobs that have not ended.
func (e *engine) left() int {
	left := len(e.jobs) - e.ended
	if e.spot != nil {
		left += e.spot.engine.left()
	}
	return left
}

// second handles all events of a second: ends of jobs, then arrivals, then the scheduler, then changes and failures of
// nodes. In each of these steps, spot jobs that can be evicted come after the other jobs.
func (e *engine) second(now int64) error {
	if e.each != nil {
		e.each()
	}
	acts := e.spot == nil || e.due() <= now
	e.advance(now)
	e.finish()
	if e.spot != nil {
		e.spot.begin(now)
	}
	if acts {
		e.act()
	}
	if e.spot != nil {
		e.spot.engine.act()
	}
	err := e.end(now)
	if e.spot != nil && err == nil {
		err = e.spot.engine.end(now)
	}
	return err
}

// advance moves the clocks of the jobs and of the spot jobs on the same nodes. It comes before the ends of jobs, which
// change the devices that both use.
func (e *engine) advance(now int64) {
	e.pool.advance(now)
	if e.spot != nil {
		e.spot.engine.advance(now)
	}
}

// act handles arrivals and calls the scheduler.
func (e *engine) act() {
	e.outages.arrive(e)
	e.arrive()
	e.wake = e.schedule()
}

// end changes nodes.
func (e *engine) end(now int64) error {
	if e.change() <= now && e.pool.fault == nil {
		e.changeNodes()
		e.wake = now + 1
	}
	if e.outages.apply(e) {
		e.wake = now + 1
	}
	switch {
	case e.pool.fault != nil:
		return e.pool.fault
	case e.wake <= now:
		return fmt.Errorf("second %d: the scheduler requested its next call at second %d; expected a later "+
			"second, or Never", now, e.wake)
	}
	return nil
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
	if e.busy() || e.spot != nil && e.spot.engine.busy() {
		e.vain = 0
	}
	if e.outages != nil {
		return e.vain > starvation
	}
	return e.vain > patience
}

// busy reports whether jobs run, or will arrive, or nodes will change.
func (e *engine) busy() bool { return e.pool.running > 0 || e.next < len(e.jobs) || len(e.changes) > 0 }

// stuck returns the error for jobs that wait although no events are pending.
func (e *engine) stuck() error {
	if e.outages != nil {
		return fmt.Errorf("second %d: %s waiting and will never find enough nodes in service at the same "+
			"time; give all outages an end, add spare nodes, or remove jobs that need almost all nodes", e.pool.Now(),
			words.Are(e.left(), "job"))
	}
	return fmt.Errorf("second %d: %s waiting, no jobs are running and no more jobs will arrive; the "+
		"scheduler must start a job, or return the time of its next call", e.pool.Now(), words.Are(e.left(), "job"))
}
