package cluster

import (
	"context"
	"fmt"
)

// engine simulates a pool.
type engine struct {
	pool  *Pool
	jobs  []*Job // in the order of their arrival
	next  int    // the next that arrives
	ended int
	until int64 // it goes on at least up to here

	scalings []Scaling // that are still to come
	sched    Scheduler
	each     func(now int64) // is told before time goes on to a second, if it is not nil

	events, asked int64
	vain          int // times that the scheduler was asked since something could happen by itself
}

// interruptible is how many seconds with events pass between two looks at the context.
const interruptible = 1 << 12

// run simulates until all jobs have ended.
func (e *engine) run(ctx context.Context) error {
	wake := Never
	for round := 0; e.ended < len(e.jobs) || e.pool.now < e.until; round++ {
		if round%interruptible == 0 && ctx.Err() != nil {
			return fmt.Errorf("simulate: %w", ctx.Err())
		}
		now := min(wake, e.pool.ends.next(), e.arrival(), e.scaling())
		switch {
		case e.ended == len(e.jobs):
			now = min(now, e.until)
		case now == Never || e.inVain():
			return e.stuck()
		}
		if e.each != nil {
			e.each(now)
		}
		e.pool.advance(now)
		e.finish()
		e.arrive()
		wake = e.schedule()
		if e.scaling() <= now {
			e.scale()
			wake = now + 1
		}
		if e.pool.fault != nil {
			return e.pool.fault
		}
		if wake <= now {
			return fmt.Errorf("at second %d the scheduler wants to be asked again at %d; that must be later, or Never", now, wake)
		}
	}
	return nil
}

// patience is how often a scheduler is asked while no job runs and none will come. One that waits
// for a moment, as some do for the next minute, needs less.
const patience = 1 << 20

// inVain reports whether the scheduler was asked for too long without starting a job.
func (e *engine) inVain() bool {
	e.vain++
	if e.pool.running > 0 || e.next < len(e.jobs) || len(e.scalings) > 0 {
		e.vain = 0
	}
	return e.vain > patience
}

// arrival is when the next job arrives.
func (e *engine) arrival() int64 {
	if e.next == len(e.jobs) {
		return Never
	}
	return e.jobs[e.next].Arrival
}

// scaling is when the next node comes or goes.
func (e *engine) scaling() int64 {
	if len(e.scalings) == 0 {
		return Never
	}
	return e.scalings[0].At
}

// scale lets nodes come and go.
func (e *engine) scale() {
	for e.scaling() <= e.pool.now {
		if e.scalings[0].Nodes > 0 {
			e.pool.AddNode()
		} else {
			e.pool.RemoveNode()
		}
		e.scalings = e.scalings[1:]
	}
}

// finish ends the jobs that end now.
func (e *engine) finish() {
	for e.pool.ends.next() <= e.pool.now {
		j := e.pool.ends[0]
		e.pool.finish(j)
		e.ended++
		e.events++
		e.sched.Ended(j)
	}
}

// arrive lets jobs wait that arrive now.
func (e *engine) arrive() {
	for ; e.arrival() <= e.pool.now; e.next++ {
		j := e.jobs[e.next]
		e.pool.wait(j)
		e.events++
		e.sched.Arrived(j)
	}
}

// schedule asks the scheduler, and again where a job ended at once.
func (e *engine) schedule() int64 {
	for {
		e.asked++
		wake := e.sched.Schedule(e.pool)
		check(e.pool)
		if e.pool.ends.next() > e.pool.now || e.pool.fault != nil {
			return wake
		}
		e.finish()
	}
}

// stuck says that jobs wait and nothing will happen any more.
func (e *engine) stuck() error {
	return fmt.Errorf("at second %d %d jobs wait, none runs and none will come; the scheduler should start one, or say when to ask it again", e.pool.now, len(e.jobs)-e.ended)
}
