package execute

import (
	"time"

	"graft/fleet/process"
)

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	Opened    EventKind = "opened"    // an executor began; the reason says how it confines tasks
	Queued    EventKind = "queued"    // a task may start, also again; not in the journal
	Placed    EventKind = "placed"    // a task is about to start on a device
	Started   EventKind = "started"   // its process runs
	Paused    EventKind = "paused"    // its processes are stopped and stay in memory
	Resumed   EventKind = "resumed"   // they go on
	TimedOut  EventKind = "timeout"   // it exceeded its running time and is ended
	Truncated EventKind = "truncated" // its log lacks some bytes
	Ended     EventKind = "ended"     // no process of it is left
	Skipped   EventKind = "skipped"   // a task never runs, since one that it waits for failed
)

// End says what follows from the end of an attempt.
type End string

// The ends of attempts.
const (
	Done        End = "done"        // the task is completed
	Failed      End = "failed"      // the task failed, and no retry is left
	Retried     End = "retried"     // the attempt failed, and the task runs again after a wait
	Again       End = "again"       // the command saved its work and asked to be run again
	Stopped     End = "stopped"     // the scheduler stopped the task, which goes on later
	Interrupted End = "interrupted" // the executor was stopped or killed; a new one runs the task again
)

// Event is something that happened to a task. Fields that do not concern its kind are zero.
type Event struct {
	// time since the beginning, without that in which no executor ran
	At      time.Duration   `json:"at_ns"`
	Kind    EventKind       `json:"event"`             // see EventKind
	Task    int             `json:"task"`              // place of the job; -1 for Opened
	Name    string          `json:"name,omitempty"`    // of the task
	Attempt int             `json:"attempt,omitempty"` // from 1; a stopped task continues its attempt
	Device  int             `json:"device"`            // place of the device; -1 is none
	Process process.Process `json:"process,omitzero"`  // of Started
	Host    string          `json:"host,omitempty"`    // of Opened: machine and its boot
	Command []string        `json:"command,omitempty"` // of Placed
	Log     string          `json:"log,omitempty"`     // of Placed: path in the run folder
	Bytes   int64           `json:"bytes,omitempty"`   // of Truncated: number that the log lacks
	End     End             `json:"end,omitempty"`     // of Ended
	Exit    int             `json:"exit,omitempty"`    // of Ended: exit code
	Signal  string          `json:"signal,omitempty"`  // of Ended: signal that ended the process, such as SIGKILL
	Reason  string          `json:"reason,omitempty"`  // in words
	Delay   time.Duration   `json:"delay_ns,omitempty"`
	Joules  float64         `json:"joules,omitempty"` // since the task started or went on last; zero is unknown
	Method  string          `json:"method,omitempty"` // of the measurement of Joules
}
