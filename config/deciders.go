package config

// Names of the deciders of jobs.
const (
	DecideNone   = "none"
	DecideFixed  = "fixed"
	DecideScript = "script"
	DecideRandom = "random"
	DecideTrials = "trials"
	DecidePolicy = "policy"
)

// JobDecider describes a value of adapt.decider.
type JobDecider struct {
	Name  string
	About string // one line
	Keys  string // an example of the keys that it needs beside decider; empty for none
}

// JobDeciders lists the deciders of jobs.
func JobDeciders() []JobDecider {
	return []JobDecider{
		{DecideNone, "never changes the network", ""},
		{DecideFixed, "takes the same action at each decision", `actions = ["widen:conv1:24"]`},
		{DecideScript, "takes its actions one after the other", `actions = ["widen:conv1:24", "deepen:conv2"]`},
		{DecideRandom, "draws an action that fits", `kinds = ["deepen", "widen"]`},
		{DecideTrials, "trains a copy with each action for some steps, and takes the best", `trial_steps = 32`},
		{DecidePolicy, "asks a learned policy, structural or the original's", `policy = "runs/learned"`},
	}
}
