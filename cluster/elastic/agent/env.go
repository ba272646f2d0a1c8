package agent

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"graft/cluster/elastic"
	"graft/learn"
)

// defaultSlots is the number of slots after which an episode is cut.
const defaultSlots = 2000

// Env is an environment of workloads. A step of time is a slot; an action adds tasks to a job, and the
// last one ends the slot. The reward of a slot is the number of unfinished jobs, negative and divided by
// the jobs of the workload: their sum is the mean time to completion, rounded up to slots.
type Env struct {
	studies  []elastic.Study
	mostSlot int
	jobs     float64
	state    *state
}

// NewEnv makes an environment whose episodes draw one of some workloads. An episode is cut after a
// number of slots; zero means 2000.
func NewEnv(studies []elastic.Study, mostSlots int) (*Env, error) {
	if len(studies) == 0 {
		return nil, errors.New("make an environment of elastic jobs: there is no workload; give some")
	}
	for k := range studies {
		if _, err := elastic.NewWorld(studies[k]); err != nil {
			return nil, fmt.Errorf("make an environment of elastic jobs: workload %d: %w", k, err)
		}
	}
	if mostSlots == 0 {
		mostSlots = defaultSlots
	}
	return &Env{studies: studies, mostSlot: mostSlots}, nil
}

// Reset begins a workload.
func (e *Env) Reset(random *rand.Rand) error {
	s := e.studies[random.IntN(len(e.studies))]
	w, err := elastic.NewWorld(s)
	if err != nil {
		return err
	}
	e.jobs, e.state = float64(len(s.Jobs)), newState(w)
	w.Begin()
	return nil
}

// Observe describes the world and the candidates.
func (e *Env) Observe() learn.Observation { return e.state.look() }

// Act adds tasks or, with the last action, ends the slot.
func (e *Env) Act(action int) (learn.Outcome, error) {
	w, n := e.state.world, len(e.state.candidates)
	if action < 0 || action > n {
		return learn.Outcome{}, fmt.Errorf("there are %d candidates and the end of the slot", n)
	}
	if action < n {
		e.state.add(action)
		return learn.Outcome{}, nil
	}
	w.End()
	o := learn.Outcome{Elapsed: 1, Reward: -float64(len(w.Jobs())) / e.jobs, Done: w.Done()}
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
