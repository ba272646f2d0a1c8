package elastic

import (
	"cmp"
	"slices"
)

// Order names a sort order of the jobs in a window.
type Order string

const (
	// ByArrival puts the oldest job first.
	ByArrival Order = "arrival"
	// ByShare puts the job with the smallest dominant share first.
	ByShare Order = "share"
	// ByLeft puts the job with the smallest remaining share of its epochs first.
	ByLeft Order = "left"
)

// WindowOptions holds the options of a learned policy's observation, a matrix with one column per job. Jobs fill the
// columns of the matrix in the configured order. A job that already has the maximum numbers of workers and servers gets
// no column. The rows are type, slots since arrival, share of epochs left, dominant share, workers and servers.
type WindowOptions struct {
	Size int // Number of columns of the observation matrix, one per job. Zero means 20.
	// Sort order of the jobs: "arrival", "share" (dominant share) or "left" (remaining share of epochs), smallest value
	// first. Default "arrival".
	Order Order `config:",one=arrival|share|left"`
	// Encodes the job type in four rows of bits, highest bit first. False encodes it as a single number.
	Bits bool
	// Scales the values of the observation matrix: job types are divided by the number of types, slots since arrival by
	// 100, and numbers of workers and servers by their maximum. False keeps the raw values.
	Rescale bool
	// Value that fills the unused columns of the observation matrix if there are fewer jobs than columns. DL2's
	// published program uses 0 or -1. Default 0.
	Padding float64
	// Omits the action that adds a worker and a parameter server in one step, so that the policy adds them in separate
	// steps. If an imitated scheduler adds both in one step, the step becomes two training samples. Has no effect on
	// jobs without parameter servers. False offers the combined action too.
	Apart bool
	// Shuffle returns the column numbers 0 to n-1 in random order; the k-th job is written into the k-th of these
	// columns. If Shuffle is nil, the columns have the order of the jobs.
	Shuffle func(n int) []int `json:"-"`
}

// Rows of a window.
const (
	rowType = iota
	rowStay
	rowLeft
	rowShare
	rowWorkers
	rowServers
	rowCount
)

const (
	typeBits   = 4
	stayScale  = 100 // slots
	defaultJob = 20
)

// Rows returns the number of values per job.
func (o *WindowOptions) Rows() int {
	if o.Bits {
		return rowCount + typeBits - 1
	}
	return rowCount
}

// PerJob returns the number of actions that a policy can take for a job: 1 ([Worker]), 2 (also [Server]) or 3 (also
// [Bundle]).
func (o *WindowOptions) PerJob(allReduce bool) int {
	switch {
	case allReduce:
		return 1
	case o.Apart:
		return 2
	}
	return 3
}

// Window is a learned policy's observation of a simulation.
type Window struct {
	Jobs  []*Job    // job of each column; nil for an empty column
	State []float64 // values of the matrix, row by row

	options *WindowOptions
	world   *World
	jobs    []*Job
	rows    int
}

// NewWindow returns an empty window for a simulation. [Window.Observe] fills it.
func NewWindow(w *World, o WindowOptions) *Window {
	o.Size = cmp.Or(max(o.Size, 0), defaultJob)
	rows := o.Rows()
	return &Window{Jobs: make([]*Job, o.Size), State: make([]float64, rows*o.Size), options: &o, world: w, rows: rows}
}

// Actions returns the number of outputs of a policy: one for each action of each column, and one for the action that
// ends the slot.
func (o *Window) Actions() int {
	return o.PerJob()*o.options.Size + 1
}

// PerJob returns the number of actions per job.
func (o *Window) PerJob() int { return o.options.PerJob(o.world.AllReduce()) }

// Label returns the position of a job's action among the policy's outputs, or -1 if the job is outside the window.
func (o *Window) Label(j *Job, a Action) int {
	column := slices.Index(o.Jobs, j)
	if column < 0 {
		return -1
	}
	return o.PerJob()*column + min(int(a), o.PerJob()-1)
}

// Observe fills the window with the current state.
func (o *Window) Observe() {
	o.sort()
	clear(o.Jobs)
	for k := range o.State {
		o.State[k] = o.options.Padding
	}
	columns := o.columns()
	for k, j := range o.jobs[:min(len(o.jobs), o.options.Size)] {
		o.Jobs[columns[k]] = j
		o.encode(j, columns[k])
	}
}

func (o *Window) columns() []int {
	if o.options.Shuffle != nil {
		return o.options.Shuffle(o.options.Size)
	}
	columns := make([]int, o.options.Size)
	for k := range columns {
		columns[k] = k
	}
	return columns
}

func (o *Window) sort() {
	o.jobs = o.jobs[:0]
	for _, j := range o.world.Jobs() {
		if o.world.Allowed(j, Worker) || o.world.Allowed(j, Server) {
			o.jobs = append(o.jobs, j)
		}
	}
	key := func(*Job) float64 { return 0 }
	switch o.options.Order {
	case ByShare:
		key = func(j *Job) float64 { return j.Share }
	case ByLeft:
		key = (*Job).Left
	}
	slices.SortFunc(o.jobs, func(a, b *Job) int {
		return cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a.Arrival, b.Arrival), cmp.Compare(a.ID, b.ID))
	})
}

func (o *Window) encode(j *Job, column int) {
	values := [rowCount]float64{float64(j.Type), float64(o.world.Slot() - j.Arrival), j.Left(), j.Share,
		float64(len(j.Workers)), float64(len(j.Servers))}
	if o.options.Rescale {
		most := float64(o.world.Most())
		for row, scale := range [rowCount]float64{float64(len(o.world.types)), stayScale, 1, 1, most, most} {
			values[row] /= scale
		}
	}
	first := o.rows - rowCount
	for row, value := range values {
		o.State[(first+row)*o.options.Size+column] = value
	}
	if o.options.Bits {
		for bit := range typeBits {
			o.State[bit*o.options.Size+column] = float64(j.Type >> (typeBits - 1 - bit) & 1)
		}
	}
}

// Sample is an observation with the action that a scheduler took.
type Sample struct {
	Slot  int
	State []float64
	// position of the action among the policy's outputs; -1 if the job is outside of the window
	Label int
}

// Record makes a simulation report each action of its scheduler as a sample for imitation learning.
func Record(w *World, o WindowOptions, report func(Sample)) {
	window := NewWindow(w, o)
	w.Observer = func(w *World, j *Job, a Action) {
		window.Observe()
		if o.Apart && a == Bundle && !w.AllReduce() {
			report(Sample{w.Slot(), slices.Clone(window.State), window.Label(j, Worker)})
			a = Server
		}
		report(Sample{w.Slot(), slices.Clone(window.State), window.Label(j, a)})
	}
}
