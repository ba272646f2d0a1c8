package agent

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"graft/cluster/elastic"
	"graft/learn"
)

// defaultSlots is the number of slots after which an episode is truncated.
const defaultSlots = 2000

// Env is an environment for reinforcement learning that simulates workloads slot by slot. An action adds tasks to a
// job, or ends the slot. The reward of a slot is minus the number of unfinished jobs, divided by the number of jobs of
// the workload and by the lower bound on the mean time to completion. The rewards of an episode add up to the negative
// mean time to completion, in whole slots, divided by the lower bound.
type Env struct {
	studies  []elastic.Study
	units    []func() (float64, error) // reward unit of each workload, computed once
	mostSlot int
	unit     float64
	state    *state
}

// NewEnv creates an environment. Each episode simulates one of the workloads, chosen at random, and is truncated after
// mostSlots slots; zero means 2000.
func NewEnv(studies []elastic.Study, mostSlots int) (*Env, error) {
	if len(studies) == 0 {
		return nil, errors.New("learn to schedule elastic jobs: there are no workloads; expected at least one")
	}
	e := &Env{studies: studies}
	for k := range studies {
		if _, err := elastic.NewWorld(studies[k]); err != nil {
			return nil, fmt.Errorf("learn to schedule elastic jobs: workload %d: %w", k, err)
		}
		e.units = append(e.units, sync.OnceValues(func() (float64, error) { return rewardUnit(studies[k]) }))
	}
	if mostSlots == 0 {
		mostSlots = defaultSlots
	}
	e.mostSlot = mostSlots
	return e, nil
}

// another returns an environment of the same workloads.
func (e *Env) another() *Env { return &Env{studies: e.studies, units: e.units, mostSlot: e.mostSlot} }

// rewardUnit returns the reward of a slot per unfinished job.
func rewardUnit(s elastic.Study) (float64, error) {
	bound, err := elastic.LowerBound(s)
	return 1 / (float64(len(s.Jobs)) * bound.Mean), err
}

// Reset starts an episode with a random workload.
func (e *Env) Reset(random *rand.Rand) error {
	k := random.IntN(len(e.studies))
	w, err := elastic.NewWorld(e.studies[k])
	if err != nil {
		return err
	}
	if e.unit, err = e.units[k](); err != nil {
		return err
	}
	e.state = newState(w)
	w.Begin()
	return nil
}

// Observe describes the cluster and the possible actions.
func (e *Env) Observe() learn.Observation { return e.state.look() }

// Act adds tasks to a job. The action with the highest number ends the slot instead.
func (e *Env) Act(action int) (learn.Outcome, error) {
	w, n := e.state.world, len(e.state.candidates)
	if action < 0 || action > n {
		return learn.Outcome{}, fmt.Errorf("unknown action %d; expected 0 to %d (the last action ends the slot)",
			action, n)
	}
	if action < n {
		e.state.add(action)
		return learn.Outcome{}, nil
	}
	w.End()
	o := learn.Outcome{Elapsed: 1, Reward: -e.unit * float64(len(w.Jobs())), Done: w.Done()}
	if o.Done {
		return o, nil
	}
	w.Begin()
	e.state.begin()
	if w.Slot() >= e.mostSlot {
		o.Done, o.Cut = true, true
	}
	return o, nil
}
