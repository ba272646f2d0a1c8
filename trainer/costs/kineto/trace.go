package kineto

import "time"

// Trace holds the operators of a profiler trace and the work that they launched on the device. The zero Trace is empty.
type Trace struct {
	Events    int        // number of events in the file, of every kind
	Operators []Operator // operators, in the order of threads and of start times within a thread
	Notes     []Span     // ranges that the program marked, such as a step of the optimizer, in the order of start times
	Flows     []Flow     // links from forward operators to backward operators, in the order of their ids
	Syncs     []Span     // runtime calls in which the host waited for the device
	Kernels   []Kernel   // work of the device, in the order of the file
}

// Span is a named time interval in a thread.
type Span struct {
	Name   string
	Thread int           // index of the thread, from 0
	Start  time.Duration // start, from an arbitrary origin
	Length time.Duration // duration
	Event  int           // index in the file, from 0
}

// End returns the end of a span.
func (s *Span) End() time.Duration { return s.Start + s.Length }

// Operator is a recorded call of a PyTorch operator.
type Operator struct {
	Span
	// shapes of the tensors among the arguments, including each tensor in a list of tensors; tensors without dimensions
	// are omitted
	Shapes [][]int
	// number of the autograd node that a forward operator creates, or that a backward operator runs; zero means none.
	// An operator that creates no node has the number of the next node.
	Sequence int64
	Parent   int           // index of the operator around it; -1 for an outermost operator
	Own      time.Duration // duration without the operators directly inside
	Device   time.Duration // time of the kernels that the operator launched, without the operators inside
}

// Flow links a forward operator to its backward operator.
type Flow struct {
	ID       int64
	From, To Point
}

// Point is a time in a thread.
type Point struct {
	Thread int
	At     time.Duration
}

// Kernel is work on the device: a kernel, a copy or a fill.
type Kernel struct {
	Span
	Operator int // index of the operator that launched it; -1 if the trace has no such operator
}
