package cluster

import (
	"graft/cluster/trace"
	"graft/events"
)

// Never is a time that does not come.
const Never = events.Never

// Job is a job of the trace while it is simulated, and what came of it.
type Job struct {
	Trace   *trace.Job // as it was submitted
	Index   int        // its place in the study
	Number  int        // its place in the order of arrival in its pool, from zero
	GPUs    int        // devices that it runs on, or waits for
	Arrival int64      // second from which on it may run; later than its submission if it is profiled first

	Estimate float64 // seconds that it is expected to take; NaN is unknown
	Priority float64 // by which its scheduler orders it; what it means is the scheduler's

	Start       int64   // second of its first start; Never before that
	End         int64   // second at which it ended; Never before that
	Queue       int64   // seconds that it waited in all
	Preemptions int     // how often it was taken off its devices
	Nodes       []Share // where it runs, or ran last

	ProfileQueue int64 // seconds that it waited for the profiler
	PackedAt     int64 // second at which it was put onto another's devices; zero is never
	UnpackedAt   int64 // second at which it had its devices for itself again; zero is never

	Profiled bool // whether a profiler saw it first
	Skipped  bool // whether it ended in the profiler already
	Shared   bool // whether it shares its devices, or shared them when it ended
	Packed   bool // whether it ever was put onto another's devices

	cpus    int           // processors for each device
	asked   int           // devices, which GPUs is unless a scheduler gives others
	rate    float64       // work that a second uses up
	work    float64       // seconds at rate one that were left at since
	since   int64         // when work was last counted
	waits   int64         // since when it waits
	run     int64         // its place in the order of starts; waitingRun while it does not run
	end     int64         // when it will end
	ending  events.Handle // of its end on the pool's agenda; zero while it does not run
	partner *Job          // on the same devices
	host    *Job          // whose devices it was put onto
	before  *Job          // in the order of starts
	after   *Job
}

// Running reports whether the job has devices now.
func (j *Job) Running() bool { return j.run >= 0 }

// Rate is the work that a second of the job uses up: one where it has its devices for
// itself, and as many as it asked for.
func (j *Job) Rate() float64 { return j.rate }

// Partner is the job that shares its devices; nil is none.
func (j *Job) Partner() *Job { return j.partner }

// Order is its place in the order of starts, among those that run; negative while it waits.
func (j *Job) Order() int64 { return j.run }

// Processors is how many go with each of its devices, where they are counted.
func (j *Job) Processors() int { return j.cpus }

// Ends is the second at which the job will end if nothing changes.
func (j *Job) Ends() int64 { return j.end }

// Share is devices of one node.
type Share struct {
	Node int    // name of the node
	GPUs uint64 // a bit for each device
}
