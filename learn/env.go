package learn

import "math/rand/v2"

// Env is an environment with discrete actions. Only one goroutine may use it at a time.
type Env interface {
	// Reset begins an episode. All its random numbers come from the generator random.
	Reset(random *rand.Rand) error
	// Observe describes the current state. Its slices are valid until the next call to Act or Reset.
	Observe() Observation
	// Act takes an action, which the mask of the last Observe must allow.
	Act(action int) (Outcome, error)
}

// Observation describes a state to an agent.
type Observation struct {
	Values []float64 // input values of the agent
	// Mask marks the allowed actions, at least one. Nil allows all actions.
	Mask []bool
}

// Outcome is the result of an action.
type Outcome struct {
	Reward float64
	// Elapsed is the time that passed, in steps of the environment. Later rewards are discounted once per step. Zero
	// means that further actions belong to the same step.
	Elapsed int
	Done    bool // the episode has ended
	// Cut reports whether a time limit ended the episode. The return then includes the estimated value of the episode's
	// last state.
	Cut bool
}
