package trace

import "math"

// State is the end state of a job on the traced cluster.
type State uint8

// States of a job. The zero state means that the trace does not have it.
const (
	Unknown    State = iota
	Completed        // the job ended by itself
	Cancelled        // the user ended the job
	Failed           // the job ended with an error
	TimedOut         // the job reached its time limit
	NodeFailed       // a node of the job failed
	Running          // the job still ran when the trace was taken
	Preempted        // the cluster evicted the job, and the job did not run again
	Pending          // the job had not started when the trace was taken
	Requeued         // the job was to run again when the trace was taken
	// OutOfMemory means that the job exceeded its node memory.
	OutOfMemory
)

// Job is a job of a trace. A field is zero if the trace does not contain its value.
type Job struct {
	ID   string // ID in the trace
	User string // name of the submitter in the trace
	VC   string // virtual cluster, queue or partition
	Name string // name that the user gave to the job

	Submit   int64 // time of submission in seconds since the trace's zero
	Duration int64 // run time in seconds
	Limit    int64 // time limit that the user requested, in seconds; zero means none
	GPUs     int   // number of whole devices, allocated together
	// fraction of each device in thousandths, for a job that requests a part of a device; zero means whole devices
	Share int
	CPUs  int   // number of processors
	RAM   int64 // node memory in MiB
	// type of the job's GPUs; a job that accepts several types has all of them, separated by vertical bars
	GPUType   string
	NeedsType bool  // the job runs only on GPUType; if false, GPUType is the type on which the job ran
	Spot      bool  // the cluster may evict the job
	State     State // end state
	lost      int32 // replaces History.Lost if History is nil

	Training *Training // nil if the trace has none of its values
	History  *History  // only with the option History, and only if the trace has any of its values; otherwise nil
}

// wholeShare is the share of a whole GPU, in thousandths.
const wholeShare = 1000

// Devices returns the number of GPUs of a job. A part of a GPU counts as a fraction.
func (job *Job) Devices() float64 {
	if job.Share > 0 && job.Share < wholeShare {
		return float64(job.GPUs) * float64(job.Share) / wholeShare
	}
	return float64(job.GPUs)
}

// NeverStarted reports whether a job never ran on the traced cluster: its user cancelled it before its start, or it was
// still waiting when the trace was taken.
func (job *Job) NeverStarted() bool {
	return job.Duration == 0 && (job.State == Cancelled || job.State == Pending || job.State == Requeued)
}

// Runaway reports whether the last start of a job still runs more than an hour beyond the time limit. Slurm ends jobs
// at their limit, so its accounting database lost the end of such a job; sacctmgr show runawayjobs lists them.
func (job *Job) Runaway() bool {
	const grace = secondsOfHour // Slurm's options OverTimeLimit and KillWait delay the end
	return job.State == Running && job.Limit > 0 && job.Duration-job.earlier() > job.Limit+grace
}

// Allowed returns the time limit of a job that repeats the work of its earlier starts, because Slurm counts the limit
// of a requeued job from its last start. It returns zero for a job without a limit.
func (job *Job) Allowed() int64 {
	if lost := job.earlier(); job.Limit > 0 && job.Duration > lost {
		return job.Limit + lost
	}
	return job.Limit
}

// earlier returns the run time of the starts before the last one, in seconds.
func (job *Job) earlier() int64 {
	if job.History != nil {
		return job.History.Lost
	}
	return int64(job.lost)
}

// addLost adds the run time of a start that another start follows, for jobs without a history.
func (job *Job) addLost(seconds int64) {
	job.lost = int32(min(int64(job.lost)+max(seconds, 0), math.MaxInt32))
}

// Training describes what a job trains. Jobs of a trace with equal descriptions share one, so do not change it. A field
// is zero if the trace does not contain its value.
type Training struct {
	Dataset    string  // name of the training data
	Model      string  // name of the trained model
	Batch      int     // number of images or sequences per step
	AMP        bool    // uses mixed precision
	Speed      float64 // samples per second if the job shares none of its devices
	GPUUtil    float64 // percentage of the time in which a device was busy
	MemoryUtil float64 // percentage of the time in which a device's memory was busy
	Memory     float64 // device memory in MiB
}

// Trains returns the description of the job's training; the zero value if the trace has none.
func (job *Job) Trains() Training {
	if job.Training == nil {
		return Training{}
	}
	return *job.Training
}

// History holds the events of a job on the traced cluster. Simulations do not need it. A field is zero if the trace
// does not contain its value.
type History struct {
	QOS      string // quality of service, a class of jobs in Slurm
	Started  bool   // Wait is known
	Wait     int64  // time from the submission to the first start, in seconds
	Restarts int    // number of starts after the first one
	Lost     int64  // run time of the starts before the last one, in seconds; part of the job's duration
	// run time of earlier starts that a replay left out of the duration, in seconds
	Dropped int64 `json:",omitempty"`
	// number of starts that a failure of a node ended
	NodeFailures int
	// nodes of the job at each of its node failures, as written in the trace, separated by semicolons
	FailedNodes string
}

// history returns the job's history, and adds an empty one if the job has none.
func (job *Job) history() *History {
	if job.History == nil {
		job.History = &History{}
	}
	return job.History
}
