package learn

import "math/rand/v2"

// Env is an environment with discrete actions. One goroutine uses it at a time.
type Env interface {
	// Reset begins an episode; what it draws, it draws from random.
	Reset(random *rand.Rand) error
	// Observe describes the present. Its slices are valid until the next call of Act or Reset.
	Observe() Observation
	// Act takes an action that the mask of the last Observe allows.
	Act(action int) (Outcome, error)
}

// Observation holds the inputs of an agent.
type Observation struct {
	Values []float64 // inputs of the agent
	// Mask says which actions are allowed; nil allows all. At least one is.
	Mask []bool
}

// Outcome is the result of an action.
type Outcome struct {
	Reward float64
	// Elapsed is the time that went on, in steps of the environment: rewards behind it are discounted
	// so often. Zero means that further actions belong to the same step.
	Elapsed int
	Done    bool // the episode has ended
	// Cut says that the episode ended by a limit of time: what would have followed counts.
	Cut bool
}
