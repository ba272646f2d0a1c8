package execute

import (
	"fmt"
	"time"

	"graft/cluster/node"
	"graft/fleet/process"
)

// JobResult is the state of a job as its events tell it.
type JobResult struct {
	End         End             // of the last attempt; empty if none has ended
	Live        bool            // an attempt was placed and has not ended
	Attempts    int             // begun
	Failures    int             // attempts that failed
	Interrupted int             // attempts that an executor could not end
	Skipped     bool            // a task that it waits for failed
	Exit        int             // exit code of the last attempt; 128 and its number after a signal
	Signal      string          // that ended it; empty is none
	Reason      string          // of a failure, in words
	Log         string          // path of the last attempt's log in the run folder; empty if there is none
	Device      int             // on which it ran last; -1 is none
	Process     process.Process // that runs or ran last
	Began       time.Duration   // first start; -1 before
	Ended       time.Duration   // completion or final failure; -1 before
	Ran         time.Duration   // on a device, without stops
	Starts      int             // after a stop or a failure as well
	Stops       int             // after which it went on
	Joules      float64         // zero is unknown
	Method      string          // of the measurement of Joules
	span        int             // place of the open span, from 1; zero is none
}

// Account adds up events. Make it with [NewAccount].
type Account struct {
	At   time.Duration // of the last event
	Host string        // of the last executor
	// Confinement says in words how the last executor confines tasks: by CPU affinity alone, or by cgroups
	// with some limits.
	Confinement string
	Jobs        []JobResult // by place
	Spans       []node.Span // on devices, by their beginnings; the last of a task that runs has no end
	names       []string
}

// NewAccount returns the account of jobs before any event.
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

// Replay adds an event of a journal. One of another job is an error.
func (c *Account) Replay(e Event) error {
	if e.Task >= len(c.names) || e.Task < -1 || e.Task >= 0 && c.names[e.Task] != e.Name {
		return fmt.Errorf("task %d is %s, which is not among the tasks; go on with the tasks that began this run, "+
			"or use another run folder", e.Task, e.Name)
	}
	c.Add(e)
	return nil
}

// Add adds an event.
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
		j.Method = e.Method // one part that was not measured makes the sum unknown
	}
}

// Over reports whether a job will not run any more.
func (j *JobResult) Over() bool { return j.Ended >= 0 }

// Retries is the number of failures after which a job was run again.
func (j *JobResult) Retries() int {
	if j.End == Failed {
		return j.Failures - 1
	}
	return j.Failures
}

// next is the number of the attempt that starts next: a stopped task continues its last one.
func (j *JobResult) next() int {
	if j.End == Stopped || j.End == Again {
		return j.Attempts
	}
	return j.Attempts + 1
}
