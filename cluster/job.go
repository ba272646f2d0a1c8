package cluster

import (
	"fmt"

	"graft/cluster/trace"
	"graft/internal/events"
)

// Never is a time that is never reached.
const Never = events.Never

// refusedNumber is the Number of a job that exceeds its pool.
const refusedNumber = -1

// Job is the state of a trace's job during and after its simulation.
type Job struct {
	Trace  *trace.Job // job as submitted
	Index  int32      // position of the job in the study
	Number int32      // position in the pool's order of arrival, from zero; refusedNumber if the job was refused
	GPUs   int        // number of devices on which the job runs or for which it waits
	// earliest second at which the job may start; a policy can set it later than the submission
	Arrival int64

	Estimate float64   // expected duration in seconds; NaN if unknown
	Priority float64   // priority; its scheduler defines the meaning
	Record   JobRecord // policy's state of the job; may be nil

	Start       int64   // second of the first start; Never if not started
	End         int64   // second of the end; Never if not ended
	Queue       int64   // total waiting time in seconds
	Nodes       []Share // devices on the current nodes, or on the last nodes
	Preemptions int32   // number of preemptions

	fixed   bool     // runs only on the requested number of devices
	asked   int32    // requested devices; GPUs is equal unless a scheduler assigns another number
	beside  *beside  // demand other than whole devices; nil if none
	rate    float64  // work per second
	work    float64  // remaining seconds of work at rate one, as of since or while it waits
	waits   int64    // second since which it waits
	losses  *Losses  // through failures of nodes and evictions; nil if none
	running *running // nil while it has no devices
}

// running is the state of a job that has devices. Only a small part of a trace's jobs have devices at the same time.
type running struct {
	order   int64         // position in the order of starts
	since   int64         // second up to which work is counted
	spots   int64         // second up to which it waits for spot jobs; a restart delay until since may follow
	saved   float64       // remaining work in the last saved state
	end     int64         // second at which it will end
	ending  events.Handle // its end on the pool's agenda
	partner *Job          // job on the same devices; nil if none
	before  *Job          // previous job in the order of starts
	after   *Job
	on      uint8 // type of its nodes, from one; zero if nodes have no types
}

// Running reports whether the job has devices now.
func (j *Job) Running() bool { return j.running != nil }

// Resizable reports whether a scheduler may start the job on another number of devices than it requests, or change the
// number.
func (j *Job) Resizable() bool { return !j.fixed }

// Remaining returns the remaining work of a waiting job, in seconds at rate 1.
func (j *Job) Remaining() float64 { return j.work }

// Rate returns the job's work per second. The rate is 1 for a job that runs alone on its requested devices.
func (j *Job) Rate() float64 { return j.rate }

// Partner returns the job that shares the devices of this job, or nil if the devices are not shared.
func (j *Job) Partner() *Job {
	if j.running == nil {
		return nil
	}
	return j.running.partner
}

// Order returns the job's position in the order of starts, or a negative number while the job does not run.
func (j *Job) Order() int64 {
	if j.running == nil {
		return -1
	}
	return j.running.order
}

// beside holds the demand of a job other than whole devices. Jobs may share one.
type beside struct {
	share int     // thousandths of its one device; zero means a whole device
	wants []int64 // other resources per device
	types *typed  // types of nodes on which it can run; nil if all nodes are alike
}

// Share returns the requested fraction of one device in thousandths; zero means whole devices.
func (j *Job) Share() int {
	if j.beside == nil {
		return 0
	}
	return j.beside.share
}

// Demand returns the devices that the job has or waits for, in thousandths of a device.
func (j *Job) Demand() int64 {
	if share := j.Share(); share > 0 {
		return int64(share)
	}
	return int64(j.GPUs) * Whole
}

// DeviceSeconds returns a time in seconds, multiplied by the devices that the job has or waits for.
func (j *Job) DeviceSeconds(seconds float64) float64 {
	if share := j.Share(); share > 0 {
		return seconds * float64(share) / Whole
	}
	return seconds * float64(j.GPUs)
}

// Beside encodes the job's demand for resources other than whole devices, and for types of nodes, as a string. Equal
// demands give equal strings. A job that requests only whole devices of any type gives the empty string.
func (j *Job) Beside() (text string) {
	if b := j.beside; b != nil && (b.share > 0 || len(b.wants) > 0) {
		text = fmt.Sprint(b.share, b.wants)
	}
	if t := j.types(); t != nil && t.needs {
		text += fmt.Sprint(" ", t.all)
	}
	return text
}

// Ends returns the time, in seconds, at which a running job will end if nothing changes. It returns Never if the job
// does not run.
func (j *Job) Ends() int64 {
	if j.running == nil {
		return Never
	}
	return j.running.end
}

// Share is a set of devices on one node.
type Share struct {
	Node int    // name of the node
	GPUs uint64 // set of devices on the node, one bit per device
}
