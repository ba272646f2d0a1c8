package tasks

import (
	"fmt"
	"math/rand/v2"

	"graft/learn"
)

// EnvOptions holds the options of an [Env].
type EnvOptions struct {
	GPUs int // number of GPUs, each with 100 percent of compute and of memory; zero means 4
	// Source draws the tasks of all episodes. Nil means that tasks are drawn with the generator passed to Reset.
	Source Source
}

// EnsureDefaults sets zero fields to their defaults.
func (o *EnvOptions) EnsureDefaults() {
	if o.GPUs == 0 {
		o.GPUs = 4
	}
}

// Validate returns an error for invalid options.
func (o EnvOptions) Validate() error {
	if o.GPUs < 1 {
		return fmt.Errorf("options of the packing environment: got %d GPUs, expected at least one", o.GPUs)
	}
	return nil
}

// capacity is the compute, and the memory, of a GPU in percent.
const capacity = 100

// Placement is a task that was placed on a GPU.
type Placement struct {
	Task
	On    int // index of the GPU, from 0
	Start int // step in which the task was placed
}

// End returns the step at which the task leaves its GPU.
func (p Placement) End() int { return p.Start + p.Duration }

// Env is an environment in which an agent packs tasks onto GPUs. It reproduces the environment of the published study.
// Each action places the next task of a queue on a GPU; a task that does not fit there is lost. An observation is the
// compute usage of each GPU, followed by the memory usage of each GPU, in percent. It implements [learn.Env] and
// allocates no memory in a step.
type Env struct {
	o       EnvOptions
	tasks   []Task      // tasks of the episode, in queue order
	next    int         // index of the next task
	running []Placement // in the order of their starts
	ended   []Placement // in the order of their ends
	lost    []int       // IDs of lost tasks
	usage   []int       // compute usage by GPU, then memory usage
	values  []float64
	history []int // compute usage by GPU after each step
	steps   int
	waited  int // sum over steps of all waiting counters
	reward  float64
}

var _ learn.Env = (*Env)(nil)

// NewEnv creates an environment. Reset or Begin must start the first episode.
func NewEnv(o EnvOptions) (*Env, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Env{o: o, usage: make([]int, 2*o.GPUs), values: make([]float64, 2*o.GPUs)}, nil
}

// Reset starts an episode with randomly drawn tasks.
func (e *Env) Reset(random *rand.Rand) error {
	source := e.o.Source
	if source == nil {
		source = random
	}
	e.tasks = DrawTasks(e.tasks[:0], source)
	e.begin()
	return nil
}

// Begin starts an episode with the given tasks.
func (e *Env) Begin(list []Task) {
	e.tasks = append(e.tasks[:0], list...)
	e.begin()
}

func (e *Env) begin() {
	byPriority(e.tasks)
	e.running, e.ended, e.lost, e.history = e.running[:0], e.ended[:0], e.lost[:0], e.history[:0]
	e.next, e.steps, e.waited, e.reward = 0, 0, 0, 0
	clear(e.usage)
}

// Observe returns the compute and memory usage of all GPUs.
func (e *Env) Observe() learn.Observation {
	for k, v := range e.usage {
		e.values[k] = float64(v)
	}
	return learn.Observation{Values: e.values}
}

// GPUs returns the number of GPUs.
func (e *Env) GPUs() int { return e.o.GPUs }

// Steps returns the number of actions taken in the episode.
func (e *Env) Steps() int { return e.steps }

// Head returns the task that the next action places, and false if all tasks were placed or lost.
func (e *Env) Head() (Task, bool) {
	if e.next == len(e.tasks) {
		return Task{}, false
	}
	return e.tasks[e.next], true
}

// Waiting returns the number of tasks that have not started, including lost tasks. It also returns the number of steps
// that these tasks have waited, which is the same for all of them.
func (e *Env) Waiting() (count, steps int) {
	return len(e.tasks) - len(e.running) - len(e.ended), min(e.steps, len(e.tasks))
}

// Act takes one step: expired tasks leave, then the next task is placed. If all tasks were already placed, the step
// places no task. Rewards are added in the order of the published program, because the rounding of the sum depends on
// this order.
func (e *Env) Act(gpu int) (o learn.Outcome, err error) {
	if gpu < 0 || gpu >= e.o.GPUs {
		return o, fmt.Errorf("place a task in the packing environment: there is no GPU %d; expected 0 to %d", gpu,
			e.o.GPUs-1)
	}
	e.release(&o.Reward)
	if e.next < len(e.tasks) {
		e.place(e.tasks[e.next], gpu, &o.Reward)
		e.next++
	}
	e.steps++
	if o.Done = e.next == len(e.tasks) && len(e.running) == 0; o.Done {
		o.Reward += float64(-float64(e.steps) * 0.1)
	}
	e.history = append(e.history, e.usage[:e.o.GPUs]...)
	count, steps := e.Waiting()
	e.waited += count * steps
	e.reward += o.Reward
	o.Elapsed = 1
	return o, nil
}

// release frees the GPUs of expired tasks.
func (e *Env) release(reward *float64) {
	kept := e.running[:0]
	for _, p := range e.running {
		if p.End() > e.steps {
			kept = append(kept, p)
			continue
		}
		e.add(p.On, -p.GPU, -p.Memory)
		e.ended = append(e.ended, p)
		*reward += float64(10 + 2*p.Priority)
	}
	e.running = kept
}

func (e *Env) add(gpu, compute, memory int) {
	e.usage[gpu] += compute
	e.usage[e.o.GPUs+gpu] += memory
}

// place starts a task, or loses it.
func (e *Env) place(t Task, gpu int, reward *float64) {
	if !e.fits(t, gpu) {
		e.lost = append(e.lost, t.ID)
		*reward -= 2
		return
	}
	e.running = append(e.running, Placement{Task: t, On: gpu, Start: e.steps})
	e.add(gpu, t.GPU, t.Memory)
	*reward += float64(float64(20-(e.steps+1)) * 0.1)
}

// fits reports whether a GPU has room for a task now.
func (e *Env) fits(t Task, gpu int) bool {
	return e.usage[gpu]+t.GPU <= capacity && e.usage[e.o.GPUs+gpu]+t.Memory <= capacity
}
