package execute

import (
	"time"

	"graft/cluster/node"
	"graft/internal/events"
)

// Kinds of timers, in their order at one moment.
const (
	arrives = iota // a task arrives, for the first time or after a delay
	expires        // the slice of an attempt ends
	exceeds        // the time limit of an attempt ends
	kills          // the grace period of an attempt ends
)

// timer is an event at a given time.
type timer struct {
	kind int
	task *node.Task
}

// schedule sets a timer.
func (x *executor) schedule(after time.Duration, kind int, t *node.Task) events.Handle {
	at := x.m.Now + after
	if at < x.m.Now {
		at = 1<<63 - 1 // centuries
	}
	return x.timers.Schedule(int64(at), kind, timer{kind, t})
}

// cancel removes timers.
func (x *executor) cancel(handles ...*events.Handle) {
	for _, h := range handles {
		if *h != 0 {
			x.timers.Cancel(*h)
			*h = 0
		}
	}
}

// fire handles due timers.
func (x *executor) fire() {
	for x.timers.Next() <= int64(x.m.Now) {
		due, _ := x.timers.Step()
		a := x.live[due.task.ID]
		switch due.kind {
		case arrives:
			x.m.Arrive(due.task)
		case expires:
			a.slice = 0
			if due.task.State == node.Running {
				x.stop(due.task)
			}
		case exceeds:
			a.timeout = 0
			if a.ending == byItself {
				x.emit(Event{Kind: TimedOut, Task: due.task.ID, Attempt: a.number, Device: a.device,
					Reason: "timed out after " + a.job.Timeout.String()})
				x.terminate(a, timedOut)
			}
		case kills:
			a.grace = 0
			x.kill(a)
		}
	}
}
