package agent

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"graft/cluster/node"
	"graft/cluster/node/schedulers"
	"graft/learn"
)

// Objective is the cost that learning minimises.
type Objective string

// Objectives of learning.
const (
	Completion Objective = "completion" // mean time from arrival to completion, in seconds
	// energy of all devices multiplied by the mean time from arrival to completion, in kJ s
	EnergyDelay Objective = "energy-delay"
)

// Of returns the cost of a simulation under the objective.
func (o Objective) Of(s *node.Summary) float64 {
	if o == EnergyDelay {
		return s.Delay() / 1000
	}
	return s.Turnaround
}

// Unit returns the unit of the cost.
func (o Objective) Unit() string {
	if o == EnergyDelay {
		return "kJ s"
	}
	return "s"
}

// Env is an environment for reinforcement learning. An action starts a task on a device, or advances time to the next
// event. Let the turnaround ratio be the episode's mean turnaround divided by the mean turnaround under best-fit, and
// let the energy ratio be defined in the same way. With the objective "energy-delay", the rewards of an episode add up
// to the negative mean of both ratios; otherwise they add up to the negative turnaround ratio. To first order, changes
// of the mean of both ratios are proportional to changes in the logarithm of the energy-delay product.
type Env struct {
	studies   []*node.Prepared
	scales    []func() (scale, error) // scale of each study, computed once
	objective Objective
	scale     scale
	world     *node.World
	state     *state
}

// scale holds the results of best-fit.
type scale struct {
	waited, joules float64
	tick           time.Duration // time step for the comparison of later rewards of episodes
}

// NewEnv creates an environment in which each episode simulates one of the studies, chosen at random.
func NewEnv(studies []node.Study, objective Objective) (*Env, error) {
	if len(studies) == 0 {
		return nil, errors.New("learn to schedule tasks: there are no workloads; expected at least one")
	}
	e := &Env{objective: objective}
	for k := range studies {
		p, err := studies[k].Prepare()
		if err != nil {
			return nil, fmt.Errorf("learn to schedule tasks: workload %d: %w", k, err)
		}
		e.studies = append(e.studies, p)
		e.scales = append(e.scales, sync.OnceValues(func() (scale, error) { return measure(p) }))
	}
	return e, nil
}

// another returns an environment over the same studies, for another goroutine.
func (e *Env) another() *Env {
	return &Env{studies: e.studies, scales: e.scales, objective: e.objective}
}

// ticks is the approximate number of time steps of an episode.
const ticks = 100

func measure(p *node.Prepared) (scale, error) {
	kind, err := schedulers.Named("best-fit")
	if err != nil {
		return scale{}, err
	}
	w := p.World()
	var o node.SchedulerOptions
	o.EnsureDefaults()
	if err := w.Run(background, kind.New(o)); err != nil {
		return scale{}, err
	}
	return scale{max(w.Waited().Seconds(), 1e-9), max(w.Energy(), 1e-9), max(1, w.Now/ticks)}, nil
}

// Reset starts an episode with a random study, at the first arrival.
func (e *Env) Reset(random *rand.Rand) (err error) {
	k := random.IntN(len(e.studies))
	if e.scale, err = e.scales[k](); err != nil {
		return err
	}
	e.world = e.studies[k].World()
	e.world.NoSpans = true
	e.state = newState(e.world.Machine)
	e.world.Advance()
	return nil
}

// Observe lists the possible actions. The last one in the list advances time, and is not allowed if no event can occur
// before another task starts.
func (e *Env) Observe() learn.Observation {
	o := e.state.look()
	if n := len(e.state.candidates); n > 0 && !e.world.Coming() {
		o.Mask = make([]bool, n+1)
		for k := range n {
			o.Mask[k] = true
		}
	}
	return o
}

// Act starts a candidate's task, or advances time.
func (e *Env) Act(action int) (learn.Outcome, error) {
	w, n := e.world, len(e.state.candidates)
	if action < 0 || action > n {
		return learn.Outcome{}, fmt.Errorf("unknown action %d; expected 0 to %d (the last action advances time)",
			action, n)
	}
	if action < n {
		c := e.state.candidates[action]
		return learn.Outcome{}, w.Carry(node.Decision{Start: c.task, On: c.on})
	}
	before, waited, joules := w.Now, w.Waited(), w.Energy()
	if !w.Advance() {
		return learn.Outcome{}, errors.New("cannot advance time: no events are pending; start a task")
	}
	o := learn.Outcome{Reward: -(w.Waited() - waited).Seconds() / e.scale.waited,
		Elapsed: int(w.Now/e.scale.tick - before/e.scale.tick), Done: !w.Coming() && w.Unfinished() == 0}
	if e.objective == EnergyDelay {
		o.Reward = (o.Reward - (w.Energy()-joules)/e.scale.joules) / 2
	}
	return o, nil
}
