package config

import (
	"cmp"
	"fmt"
	"strings"

	"graft/decider"
	"graft/internal/coprocess"
	"graft/internal/registry"
	"graft/net2net"
)

// Names of the deciders of jobs that code refers to.
const (
	DecideNone     = "none"
	DecideScript   = "script"
	DecideRandom   = "random"
	decideFixed    = "fixed"
	decideTrials   = "trials"
	decidePolicy   = "policy"
	decideGradient = "gradient"
)

// ActionUse states how a decider uses adapt.actions.
type ActionUse int

// Uses of adapt.actions. A decider with NoActions rejects adapt.actions; a decider with ActionChoices also accepts
// adapt.kinds.
const (
	NoActions      ActionUse = iota
	OneAction                // exactly one action, which must fit
	ActionsInOrder           // at least one action; each must fit when its turn comes
	ActionChoices            // any number of actions; actions that do not fit are skipped
)

// JobDecider describes a value of adapt.decider. To add a decider, add a type in package decider and an item in
// [JobDeciders].
type JobDecider struct {
	Name    string
	About   string // help text in one line
	Keys    string // example of the other keys that it requires; empty means none
	Actions ActionUse
	make    func(j *Job) (decider.Decider, error) // for a valid job
}

// Listing returns the name and the one-line description.
func (d JobDecider) Listing() (name, about string) { return d.Name, d.About }

// JobDeciders lists the names that adapt.decider accepts, with their properties.
func JobDeciders() registry.List[JobDecider] {
	return registry.List[JobDecider]{
		{DecideNone, "never changes the network", "", NoActions,
			func(*Job) (decider.Decider, error) { return decider.None{}, nil }},
		{decideFixed, "takes the same action at each decision", `actions = ["widen:conv1:24"]`, OneAction,
			func(j *Job) (decider.Decider, error) { return decider.Fixed{Action: j.Adapt.Actions[0]}, nil }},
		{DecideScript, "takes the listed actions in order", `actions = ["widen:conv1:24", "deepen:conv2"]`,
			ActionsInOrder,
			func(j *Job) (decider.Decider, error) { return decider.Script{Actions: j.Adapt.Actions}, nil }},
		{DecideRandom, "draws a random action that fits", `kinds = ["deepen", "widen"]`, ActionChoices,
			func(j *Job) (decider.Decider, error) { return j.random(), nil }},
		{decideTrials, "trains a copy with each action for a few steps and takes the best", `trial_steps = 32`,
			ActionChoices, func(j *Job) (decider.Decider, error) {
				return decider.Trials{Random: j.random(), Steps: j.Adapt.TrialSteps}, nil
			}},
		{decideGradient, "takes the action whose new weights have the largest gradient per cost (GradMax)",
			`kinds = ["deepen", "widen"]`, ActionChoices,
			func(j *Job) (decider.Decider, error) { return decider.Gradient{Random: j.random()}, nil }},
		{decidePolicy, "uses a learned policy, structural or of the original system", `policy = "runs/learned"`,
			ActionChoices,
			(*Job).learnedDecider},
	}
}

// programDecider is the decider that asks the program whose path is the value of adapt.decider.
var programDecider = JobDecider{"PATH", "asks your program, in any language", "", ActionChoices,
	func(j *Job) (decider.Decider, error) {
		return decider.Program{Random: j.random(), Options: coprocess.Options{Path: j.Adapt.Decider}}, nil
	}}

// IsProgram reports whether the key adapt.decider names a program by its path, rather than a built-in decider.
func (o AdaptOptions) IsProgram() bool {
	_, known := JobDeciders().Find(o.Decider)
	return !known && o.Decider != ""
}

// decidersWith lists the names of deciders with one of the given uses of actions, as text.
func decidersWith(uses ...ActionUse) string {
	var names []string
	for _, d := range JobDeciders() {
		for _, use := range uses {
			if d.Actions == use {
				names = append(names, d.Name)
			}
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// kind returns the description of the decider.
func (o AdaptOptions) kind() JobDecider {
	if o.IsProgram() {
		return programDecider
	}
	d, _ := JobDeciders().Find(cmp.Or(o.Decider, DecideNone))
	return d
}

// Replace returns the assignments that replace the decider, and remove the keys that only some deciders accept.
func (o AdaptOptions) Replace(decider string) []string {
	set := []string{"adapt.decider=" + decider}
	for _, key := range []struct {
		given bool
		set   string
	}{{len(o.Actions) > 0, "adapt.actions=[]"}, {len(o.Kinds) > 0, "adapt.kinds=[]"},
		{o.Policy != "", "adapt.policy="}, {o.Vocab != "", "adapt.vocabulary="}, {o.Sample, "adapt.sample=false"},
		{o.Fallback != "", "adapt.fallback="}, {o.TrialSteps != 0, "adapt.trial_steps=0"}} {
		if key.given {
			set = append(set, key.set)
		}
	}
	return set
}

// rehearsed reports whether the decider applies the actions exactly as listed, so that each must fit.
func (o AdaptOptions) rehearsed() bool {
	use := o.kind().Actions
	return use == OneAction || use == ActionsInOrder
}

// Decider creates the decider that the adapt section describes.
func (j *Job) Decider() (decider.Decider, error) {
	if err := j.Adapt.Validate(); err != nil {
		return nil, fmt.Errorf("create the decider: %w", err)
	}
	return j.Adapt.kind().make(j)
}

func (j *Job) random() decider.Random {
	return decider.Random{Seed: uint64(j.Run.Seed), Kinds: j.Adapt.Kinds, Actions: j.Adapt.Actions,
		Surgery: j.Adapt.Surgery, Original: j.Adapt.Surgery.Compat != net2net.Off}
}

func (j *Job) learnedDecider() (decider.Decider, error) {
	if j.policy == nil {
		return nil, fmt.Errorf("the policy %s was not read; use ReadJob", j.Adapt.Policy)
	}
	return j.policy.decider(), nil
}

// MayMakeAnyNetwork reports whether the decider may create networks that are not known before the job starts. Such a
// decider chooses among all actions that fit, at random or by their scores.
func (j *Job) MayMakeAnyNetwork() bool {
	if j.policy != nil {
		return j.policy.structural != nil
	}
	return j.Adapt.kind().Actions == ActionChoices && j.Adapt.Decider != decidePolicy
}
