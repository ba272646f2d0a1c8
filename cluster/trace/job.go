package trace

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
	State State // end state

	Dataset    string  // name of the training data
	Model      string  // name of the trained model
	Batch      int     // number of images or sequences per step
	AMP        bool    // uses mixed precision
	Speed      float64 // samples per second if the job shares none of its devices
	GPUUtil    float64 // percentage of the time in which a device was busy
	MemoryUtil float64 // percentage of the time in which a device's memory was busy
	Memory     float64 // device memory in MiB
}
