package tasks

import "fmt"

// LiveJob is a job of the environment of real GPUs.
type LiveJob struct{ Name string }

// LiveRun is an attempt to run a job, whether it failed or not.
type LiveRun struct {
	Job        string
	Start, End float64 // in seconds of Machine's clock
}

// Machine has GPUs that run jobs.
type Machine interface {
	// Utilization returns that of each GPU in percent.
	Utilization() []float64
	// Run runs a job to its end. The published one gets no GPU and so takes the first one always.
	Run(j LiveJob) error
	// Now is the time in seconds.
	Now() float64
}

// LiveOptions shape a [LiveEnv].
type LiveOptions struct {
	GPUs     int // required
	MaxSteps int // after which an episode is truncated; zero means 100
}

// EnsureDefaults fills what is zero.
func (o *LiveOptions) EnsureDefaults() {
	if o.MaxSteps == 0 {
		o.MaxSteps = 100
	}
}

// Validate returns an error for options that no environment can have.
func (o LiveOptions) Validate() error {
	if o.GPUs < 1 || o.MaxSteps < 1 {
		return fmt.Errorf("options of the environment of real GPUs: %d GPUs and %d steps; "+
			"expected at least one of both", o.GPUs, o.MaxSteps)
	}
	return nil
}

// LiveEnv is the published environment of real GPUs. Actions below the number of GPUs run the next job, on
// which GPU only the history tells; the last action delays. Steps wait for jobs.
type LiveEnv struct {
	Queue   []LiveJob   // jobs left; Reset does not fill it again
	History [][]LiveRun // of each GPU
	o       LiveOptions
	machine Machine
	steps   int
}

// NewLiveEnv makes an environment with a queue of jobs.
func NewLiveEnv(o LiveOptions, m Machine, queue []LiveJob) (*LiveEnv, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &LiveEnv{Queue: queue, History: make([][]LiveRun, o.GPUs), o: o, machine: m}, nil
}

// LiveStep is a step of a [LiveEnv].
type LiveStep struct {
	Values                []float64 // utilization of each GPU from 0 to 1, as float32, then the jobs left
	Reward                float64
	Terminated, Truncated bool // by an empty queue, and by the limit of steps
}

// Reset begins an episode and returns its first observation.
func (e *LiveEnv) Reset() []float64 {
	e.steps = 0
	return e.observe()
}

func (e *LiveEnv) observe() (values []float64) {
	for _, percent := range e.machine.Utilization() {
		values = append(values, float64(float32(percent/100)))
	}
	return append(values, float64(len(e.Queue)))
}

// Rewards of an action.
const (
	jobReward   = 1
	emptyReward = -0.01 // for a GPU when no job is left
	delayReward = -0.05
)

// Step reads the utilization, which nothing uses, acts, and reads it again.
func (e *LiveEnv) Step(action int) (s LiveStep, err error) {
	if action < 0 || action > e.o.GPUs {
		return s, fmt.Errorf("act in the environment of real GPUs: action %d; expected 0 to %d", action, e.o.GPUs)
	}
	e.machine.Utilization()
	switch {
	case action == e.o.GPUs:
		s.Reward = delayReward
	case len(e.Queue) == 0:
		s.Reward = emptyReward
	default:
		s.Reward = jobReward
		e.run(action)
	}
	e.steps++
	s.Values = e.observe()
	s.Terminated, s.Truncated = len(e.Queue) == 0, e.steps >= e.o.MaxSteps
	return s, nil
}

// run runs the next job. One that fails is in the history too, and stays the next.
func (e *LiveEnv) run(gpu int) {
	j, start := e.Queue[0], e.machine.Now()
	if err := e.machine.Run(j); err == nil {
		e.Queue = e.Queue[1:]
	}
	e.History[gpu] = append(e.History[gpu], LiveRun{j.Name, start, e.machine.Now()})
}
