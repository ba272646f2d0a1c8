package agent

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"graft/cluster/fabric"
	"graft/learn"
)

// Env is an environment for reinforcement learning. An action chooses a degree of parallelism for the waiting job, or
// blocks the job. The rewards of an episode add up to the negative blocking rate.
type Env struct {
	studies []*fabric.Study
	world   *fabric.World
	state   *state
	now     learn.Observation
}

// NewEnv creates an environment in which each episode simulates one of the studies, chosen at random.
func NewEnv(studies []*fabric.Study) (*Env, error) {
	if len(studies) == 0 {
		return nil, errors.New("learn to schedule jobs: there are no episodes; expected at least one")
	}
	for k, s := range studies {
		if err := s.Validate(); err != nil {
			return nil, fmt.Errorf("learn to schedule jobs: episode %d: %w", k, err)
		}
		s.Prepare()
	}
	return &Env{studies: studies}, nil
}

// another returns an environment over the same studies, for another goroutine.
func (e *Env) another() *Env { return &Env{studies: e.studies} }

// Reset starts a random episode at its first job.
func (e *Env) Reset(random *rand.Rand) error { return e.begin(e.studies[random.IntN(len(e.studies))]) }

func (e *Env) begin(s *fabric.Study) (err error) {
	if e.world, err = fabric.NewWorld(s); err != nil {
		return err
	}
	e.state = newState(e.world)
	return e.look()
}

func (e *Env) look() (err error) {
	if e.world.Waiting() != nil {
		e.now, err = e.state.look()
	}
	return err
}

// Observe describes the degrees of parallelism at which the waiting job could start now. The action with the highest
// number blocks the job.
func (e *Env) Observe() learn.Observation { return e.now }

// Act starts or blocks the waiting job.
func (e *Env) Act(action int) (learn.Outcome, error) {
	w, n := e.world, len(e.state.offers)
	if action < 0 || action > n {
		return learn.Outcome{}, fmt.Errorf("unknown action %d; expected 0 to %d (the last action blocks the job)",
			action, n)
	}
	degree, before := 0, w.Record.Blocked
	if action < n {
		degree = e.state.offers[action].Degree
	}
	if err := w.Decide(degree); err != nil {
		return learn.Outcome{}, err
	}
	o := learn.Outcome{Reward: -float64(w.Record.Blocked-before) / float64(len(w.Jobs)), Elapsed: 1,
		Done: w.Waiting() == nil}
	return o, e.look()
}
