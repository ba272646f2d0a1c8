package learn

import "math/rand/v2"

// Env is an environment with discrete actions. One goroutine uses it at a time.
type Env interface {
	// Reset begins an episode. All its random numbers come from random.
	Reset(random *rand.Rand) error
	// Observe describes the current state. Its slices are valid until the next call of Act or Reset.
	Observe() Observation
	// Act takes an action that the mask of the last Observe allows.
	Act(action int) (Outcome, error)
}

// Observation holds the inputs of an agent.
type Observation struct {
	Values []float64 // inputs of the agent
	// Mask marks the allowed actions, at least one; nil allows all.
	Mask []bool
}

// Outcome is the result of an action.
type Outcome struct {
	Reward float64
	// Elapsed is the time that passed, in steps of the environment. It is the number of times that later rewards are
	// discounted. Zero means that further actions belong to the same step.
	Elapsed int
	Done    bool // the episode has ended
	// Cut means that a time limit ended the episode, so the value of its last state counts.
	Cut bool
}
