package execute

import (
	"time"

	"graft/fleet/process"
)

// EventKind is the kind of an event.
type EventKind string

// Kinds of events.
const (
	Opened    EventKind = "opened"    // an executor began; the reason describes how it confines tasks
	Queued    EventKind = "queued"    // a task is ready to start, possibly again; not in the journal
	Placed    EventKind = "placed"    // a task is about to start on a device
	Started   EventKind = "started"   // its process runs
	Paused    EventKind = "paused"    // its processes are stopped and stay in memory
	Resumed   EventKind = "resumed"   // its processes continue
	TimedOut  EventKind = "timeout"   // it exceeded its time limit and is being ended
	Truncated EventKind = "truncated" // its log is missing some bytes
	Ended     EventKind = "ended"     // all of its processes have ended
	Skipped   EventKind = "skipped"   // a task never runs, since a prerequisite failed
)

// End is the consequence of the end of an attempt.
type End string

// Consequences of the end of an attempt.
const (
	Done        End = "done"        // the task completed
	Failed      End = "failed"      // the task failed, and no retry is left
	Retried     End = "retried"     // the attempt failed, and the task runs again after a delay
	Again       End = "again"       // the command saved its state and asked to run again
	Stopped     End = "stopped"     // the scheduler stopped the task, which continues later
	Interrupted End = "interrupted" // the executor was stopped or killed; the next one runs the task again
)

// Event is an event of a task. Fields that do not apply to its kind are zero.
type Event struct {
	// time since the beginning, without periods between executors
	At      time.Duration   `json:"at_ns"`
	Kind    EventKind       `json:"event"`             // see EventKind
	Task    int             `json:"task"`              // position of the job; -1 for Opened
	Name    string          `json:"name,omitempty"`    // name of the task
	Attempt int             `json:"attempt,omitempty"` // from 1; a stopped task continues its attempt
	Device  int             `json:"device"`            // position of the device; -1 if none
	Process process.Process `json:"process,omitzero"`  // for Started
	Host    string          `json:"host,omitempty"`    // for Opened: machine and its boot
	Command []string        `json:"command,omitempty"` // for Placed
	Log     string          `json:"log,omitempty"`     // for Placed: path in the run folder
	Bytes   int64           `json:"bytes,omitempty"`   // for Truncated: number of bytes missing in the log
	End     End             `json:"end,omitempty"`     // for Ended
	Exit    int             `json:"exit,omitempty"`    // for Ended: exit code
	Signal  string          `json:"signal,omitempty"`  // for Ended: signal that ended the process, such as SIGKILL
	Reason  string          `json:"reason,omitempty"`  // reason in words
	Delay   time.Duration   `json:"delay_ns,omitempty"`
	Joules  float64         `json:"joules,omitempty"` // energy since the last start or continuation; zero means unknown
	Method  string          `json:"method,omitempty"` // method that measured Joules
}
