package execute

import (
	"time"

	"graft/fleet/process"
)

// EventKind names what happened to a task or to the executor.
type EventKind string

// Kinds of events.
const (
	Opened    EventKind = "opened"    // an executor began; the reason describes how it confines tasks
	Queued    EventKind = "queued"    // a task is ready to start or to restart; not in the journal
	Placed    EventKind = "placed"    // a task is about to start on a device
	Started   EventKind = "started"   // the process of a task runs
	Paused    EventKind = "paused"    // the processes of a task are stopped and stay in memory
	Resumed   EventKind = "resumed"   // the processes of a task continue
	TimedOut  EventKind = "timeout"   // a task exceeded its time limit and is being terminated
	Truncated EventKind = "truncated" // some bytes of a task's log were dropped
	Ended     EventKind = "ended"     // all processes of a task have ended
	Skipped   EventKind = "skipped"   // a task will never run, since a task that it depends on failed
)

// End names how an attempt to run a task ended.
type End string

// Results of an attempt.
const (
	Done        End = "done"        // the task completed
	Failed      End = "failed"      // the task failed, and no retry is left
	Retried     End = "retried"     // the attempt failed, and the task runs again after a delay
	Again       End = "again"       // the command saved its state and requested to run again
	Stopped     End = "stopped"     // the scheduler stopped the task, which continues later
	Interrupted End = "interrupted" // the executor was stopped or killed; the next executor runs the task again
)

// Event is a journal entry: a state change of a task, or the start of an executor. Fields that the event's kind does
// not use are zero.
type Event struct {
	// time since the first executor started, excluding the periods without an executor
	At   time.Duration `json:"at_ns"`
	Kind EventKind     `json:"event"`          // kind of the event
	Task int           `json:"task"`           // position of the job; -1 for Opened
	Name string        `json:"name,omitempty"` // name of the task
	// number of the attempt, counted from 1; a stopped task that continues keeps its attempt number
	Attempt int             `json:"attempt,omitempty"`
	Device  int             `json:"device"`            // position of the device; -1 if none
	Process process.Process `json:"process,omitzero"`  // started process, for Started
	Host    string          `json:"host,omitempty"`    // machine and its boot, for Opened
	Command []string        `json:"command,omitempty"` // program and arguments, for Placed
	Log     string          `json:"log,omitempty"`     // path of the log in the run folder, for Placed
	Bytes   int64           `json:"bytes,omitempty"`   // number of bytes missing in the log, for Truncated
	End     End             `json:"end,omitempty"`     // result of the attempt, for Ended
	Exit    int             `json:"exit,omitempty"`    // exit code, for Ended
	// name of the signal that ended the process, such as SIGKILL; set only for Ended
	Signal string        `json:"signal,omitempty"`
	Reason string        `json:"reason,omitempty"` // reason in words
	Delay  time.Duration `json:"delay_ns,omitempty"`
	// energy since the last start or continuation, in joules; zero means unknown
	Joules float64 `json:"joules,omitempty"`
	Method string  `json:"method,omitempty"` // method that measured Joules
}
