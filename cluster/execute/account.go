package execute

import (
	"fmt"
	"time"

	"graft/cluster/node"
	"graft/fleet/process"
)

// JobResult is the state of a job according to its events.
type JobResult struct {
	End         End             // result of the last attempt; empty if no attempt has ended
	Live        bool            // an attempt has a device and has not ended
	Attempts    int             // number of started attempts
	Failures    int             // number of failed attempts
	Interrupted int             // number of attempts that were interrupted by the end of the executor
	Skipped     bool            // a prerequisite task failed
	Exit        int             // exit code of the last attempt; 128 plus the signal number after a signal
	Signal      string          // name of the signal that ended the last attempt; empty if none
	Reason      string          // reason of a failure, in words
	Log         string          // path of the last attempt's log in the run folder; empty if none exists
	Device      int             // position of the last device; -1 if none
	Process     process.Process // current process, or the last one
	Began       time.Duration   // time of the first start; -1 before the first start
	Ended       time.Duration   // time of completion or final failure; -1 before that
	Ran         time.Duration   // run time on devices, without stopped time
	Starts      int             // number of starts, including starts after a stop or a failure
	Stops       int             // number of stops after which the job continued
	Joules      float64         // energy in joules; zero means unknown
	Method      string          // method that measured Joules
	span        int             // position of the open span, from 1; zero if none
}

// Account computes the state of jobs from events. Create it with [NewAccount].
type Account struct {
	At   time.Duration // time of the last event
	Host string        // host of the executor; of the latest one if the run was resumed
	// Confinement describes how tasks are confined: by CPU affinity alone, or by cgroups with resource limits. Each
	// executor process chooses a method; after a resume, the description is for the latest process.
	Confinement string
	Jobs        []JobResult // state of each job, in the order of the jobs
	Spans       []node.Span // running periods on devices, by start; the period of a running task has no end
	names       []string
}

// NewAccount returns an account of the given jobs, before any events.
func NewAccount(jobs []Job) *Account {
	c := &Account{Jobs: make([]JobResult, len(jobs))}
	for k := range jobs {
		c.Jobs[k] = JobResult{Device: -1, Began: -1, Ended: -1}
		spec := jobs[k].Spec
		spec.EnsureDefaults(k)
		c.names = append(c.names, spec.Name)
	}
	return c
}

// Replay applies an event from a journal. It returns an error if the event belongs to a different job.
func (c *Account) Replay(e Event) error {
	if e.Task >= len(c.names) || e.Task < -1 || e.Task >= 0 && c.names[e.Task] != e.Name {
		return fmt.Errorf("the journal has task %d with name %s, but the configuration file has no such task; "+
			"use the file that started this run, or another run folder", e.Task, e.Name)
	}
	c.Add(e)
	return nil
}

// Add updates the account with an event.
func (c *Account) Add(e Event) {
	c.At = max(c.At, e.At)
	if e.Task < 0 {
		c.Host, c.Confinement = e.Host, e.Reason
		return
	}
	j := &c.Jobs[e.Task]
	switch e.Kind {
	case Placed:
		j.Live, j.Attempts, j.Log, j.Device, j.Process = true, e.Attempt, e.Log, e.Device, process.Process{}
	case Started:
		if j.Process = e.Process; j.Began < 0 {
			j.Began = e.At
		}
		c.begin(j, e)
	case Paused:
		c.end(j, e)
	case Resumed:
		c.begin(j, e)
	case Skipped:
		j.Skipped, j.Reason, j.Ended = true, e.Reason, e.At
	case Ended:
		c.end(j, e)
		c.ended(j, e)
	}
}

func (c *Account) ended(j *JobResult, e Event) {
	j.Live, j.End, j.Exit, j.Signal, j.Reason = false, e.End, e.Exit, e.Signal, e.Reason
	switch e.End {
	case Interrupted:
		j.Interrupted++
	case Failed, Retried:
		j.Failures++
	}
	if e.End == Done || e.End == Failed {
		j.Ended = e.At
	}
}

// begin opens a span of a job.
func (c *Account) begin(j *JobResult, e Event) {
	c.Spans = append(c.Spans, node.Span{Task: e.Task, Device: j.Device, From: e.At, To: e.At})
	j.span = len(c.Spans)
	j.Starts++
	if e.Kind == Resumed || j.End == Stopped || j.End == Again {
		j.Stops++
	}
}

// end closes the span of a job.
func (c *Account) end(j *JobResult, e Event) {
	if j.span == 0 {
		return
	}
	s := &c.Spans[j.span-1]
	s.To, j.span = e.At, 0
	j.Ran += s.To - s.From
	if j.Joules += e.Joules; j.Method == "" || e.Joules == 0 {
		j.Method = e.Method // one part without a measurement makes the sum unknown
	}
}

// Over reports whether a job has ended and will not be retried.
func (j *JobResult) Over() bool { return j.Ended >= 0 }

// Retries returns the number of times that a job ran again after a failure.
func (j *JobResult) Retries() int {
	if j.End == Failed {
		return j.Failures - 1
	}
	return j.Failures
}

// next returns the number of the next attempt. A stopped task continues its last one.
func (j *JobResult) next() int {
	if j.End == Stopped || j.End == Again {
		return j.Attempts
	}
	return j.Attempts + 1
}
