package trace

// State is the end state of a job on the traced cluster.
type State uint8

// States of a job. The zero state means that the trace has none.
const (
	Unknown    State = iota
	Completed        // ended by itself
	Cancelled        // ended by its user
	Failed           // ended with an error
	TimedOut         // reached its time limit
	NodeFailed       // one of its nodes failed
	Running          // still running when the trace was taken
)

// Job is a job of a trace. A zero field means that the trace does not have it.
type Job struct {
	ID   string // as in the trace
	User string // submitter, as in the trace
	VC   string // virtual cluster, queue or partition
	Name string // name given by its user

	Submit   int64 // seconds since the trace's zero
	Duration int64 // run time in seconds
	Limit    int64 // time limit that the user requested, in seconds; zero means none
	GPUs     int   // whole devices, allocated together
	Share    int   // thousandths of each device, for a job that requests part of one; zero means whole devices
	CPUs     int   // processors
	RAM      int64 // node memory in MiB
	State    State // end state

	Dataset    string  // training data
	Model      string  // trained model
	Batch      int     // images or sequences per step
	AMP        bool    // mixed precision
	Speed      float64 // samples per second, alone on its devices
	GPUUtil    float64 // percent of the time that a device was busy
	MemoryUtil float64 // percent of the time that a device's memory was busy
	Memory     float64 // device memory in MiB
}
