package config

import (
	"cmp"
	"fmt"

	"graft/dataset"
	"graft/decider"
	"graft/internal/words"
	"graft/model"
	"graft/net2net"
	"graft/trainer/clock"
)

// Decider makes the decider of the section adapt.
func (j *Job) Decider() (decider.Decider, error) {
	if err := j.Adapt.Validate(); err != nil {
		return nil, fmt.Errorf("make the decider: %w", err)
	}
	switch j.Adapt.Decider {
	case DecideFixed:
		return decider.Fixed{Action: j.Adapt.Actions[0]}, nil
	case DecideScript:
		return decider.Script{Actions: j.Adapt.Actions}, nil
	case DecideRandom:
		return j.random(), nil
	case DecideTrials:
		return decider.Trials{Random: j.random(), Steps: j.Adapt.TrialSteps}, nil
	case DecidePolicy:
		if j.policy == nil {
			return nil, fmt.Errorf("the policy of %s was not read; use ReadJob", j.Adapt.Policy)
		}
		return j.policy.decider(), nil
	}
	return decider.None{}, nil
}

func (j *Job) random() decider.Random {
	return decider.Random{Seed: uint64(j.Run.Seed), Kinds: j.Adapt.Kinds, Actions: j.Adapt.Actions,
		Surgery: j.Adapt.Surgery, Original: j.Adapt.Surgery.Compat != net2net.Off}
}

// Profile returns the profile of the virtual clock; nil on a wall clock.
func (j *Job) Profile() (*clock.Profile, error) {
	if j.profile != nil || j.Time.Clock == WallClock {
		return j.profile, nil
	}
	return clock.FindProfile(j.Time.Profile)
}

// NetworkName is the name of the network at the start, of the zoo or of its file.
func (j *Job) NetworkName() string {
	if j.Network.File != "" && j.network != nil {
		return j.network.Name()
	}
	return j.Network.Name
}

// Model makes the network without tensors: one of the zoo for data of some facts, where unknown ones are its own and
// network.classes comes first; a file's with the classes of network.classes.
func (j *Job) Model(f dataset.Facts) (*model.Network, error) {
	if j.Network.File == "" {
		return model.Zoo(j.Network.Name, model.ZooOptions{Input: f.Shape, Classes: cmp.Or(j.Network.Classes, f.Classes),
			Tokens: f.Vocabulary, Each: f.Task == dataset.TokenLabel})
	}
	if j.network == nil {
		return nil, fmt.Errorf("the network of %s was not read; use ReadJob", j.Network.File)
	}
	return j.network.Sketch(), nil
}

// Summary is a job in a line.
func (j *Job) Summary() (string, error) {
	return fmt.Sprintf("%s on %s, %v of a %s clock, %s, decider %s; digest %.12s",
		cmp.Or(j.Network.Name, j.Network.File), j.Data.Kind, j.Time.Budget, j.Time.Clock,
		words.Plural(len(j.Options().Timeline.Events), "event"), j.Adapt.Decider, j.Digest()), nil
}
