package trace

// State is the end of a job on the cluster that the trace was taken from.
type State uint8

// The states of a job; the zero state is of a trace that does not say.
const (
	Unknown    State = iota
	Completed        // it ended by itself
	Cancelled        // its user ended it
	Failed           // it ended with an error
	TimedOut         // it reached its limit
	NodeFailed       // a node under it failed
	Running          // it ran when the trace was taken
)

// Job is a line of a trace. A zero field is one that the trace does not have.
type Job struct {
	ID   string // as the trace names it
	User string // who submitted it, as the trace names them
	VC   string // the virtual cluster, queue or partition that it was given to
	Name string // what its user called it

	Submit   int64 // seconds since the trace's zero
	Duration int64 // seconds that it ran for
	GPUs     int   // whole devices, all of them at once
	Share    int   // thousandths of each device, where it asks for a part of one; zero is all of it
	CPUs     int   // processors
	RAM      int64 // MiB of the memory of nodes
	State    State // how it ended

	Dataset    string  // what it trained on
	Model      string  // what it trained
	Batch      int     // images or sequences in a step
	AMP        bool    // whether it computed in mixed precision
	Speed      float64 // samples in a second, alone on its devices
	GPUUtil    float64 // percent of the time that a device was busy
	MemoryUtil float64 // percent of the time that a device's memory was busy
	Memory     float64 // MiB of a device's memory
}
