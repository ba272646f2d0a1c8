package cluster

import (
	"fmt"

	"graft/cluster/trace"
	"graft/internal/events"
)

// Never is a time that does not come.
const Never = events.Never

// Job is a job of the trace while it is simulated, and what came of it.
type Job struct {
	Trace   *trace.Job // as it was submitted
	Index   int        // its place in the study
	Number  int        // its place in the order of arrival in its pool, from zero
	GPUs    int        // devices that it runs on, or waits for
	Arrival int64      // second from which on it may run; a policy can set it later than the submission

	Estimate float64   // seconds that it is expected to take; NaN is unknown
	Priority float64   // by which its scheduler orders it; the meaning is the scheduler's
	Record   JobRecord // what its policy knows of it; nil is nothing

	Start       int64   // second of its first start; Never before that
	End         int64   // second at which it ended; Never before that
	Queue       int64   // seconds that it waited in all
	Preemptions int     // how often it was taken off its devices
	Nodes       []Share // where it runs, or ran last

	beside  *beside       // what it asks for but whole devices; nil is nothing
	asked   int           // devices; GPUs is the same unless a scheduler gives others
	rate    float64       // work that a second uses up
	work    float64       // seconds of work at rate one that were left at since
	since   int64         // second up to which work is counted
	waits   int64         // second since which it waits
	run     int64         // its place in the order of starts; waitingRun while it does not run
	end     int64         // second at which it will end
	ending  events.Handle // of its end on the pool's agenda; zero while it does not run
	partner *Job          // on the same devices
	before  *Job          // in the order of starts
	after   *Job
}

// Running reports whether the job has devices now.
func (j *Job) Running() bool { return j.run >= 0 }

// Rate returns the work that the job does in a second: one where it has its devices for itself,
// and as many as it asked for.
func (j *Job) Rate() float64 { return j.rate }

// Partner returns the job that shares its devices; nil if there is none.
func (j *Job) Partner() *Job { return j.partner }

// Order returns its place in the order of starts among those that run; negative while it waits.
func (j *Job) Order() int64 { return j.run }

// beside holds the demand of a job but for whole devices.
type beside struct {
	share int     // thousandths of its one device; zero is all of it
	wants []int64 // other resources beside each device
}

// Share returns the thousandths of one device that the job asks for; zero is whole devices.
func (j *Job) Share() int {
	if j.beside == nil {
		return 0
	}
	return j.beside.share
}

// Demand returns the thousandths of devices that it has, or waits for.
func (j *Job) Demand() int64 {
	if share := j.Share(); share > 0 {
		return int64(share)
	}
	return int64(j.GPUs) * Whole
}

// Beside describes what it asks for but whole devices, equal for equal jobs; empty is nothing.
func (j *Job) Beside() string {
	if j.beside == nil {
		return ""
	}
	return fmt.Sprint(*j.beside)
}

// Ends returns the second at which the job will end if nothing changes.
func (j *Job) Ends() int64 { return j.end }

// Share is devices of one node.
type Share struct {
	Node int    // name of the node
	GPUs uint64 // a bit for each device
}
