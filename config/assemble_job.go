package config

import (
	"cmp"
	"fmt"

	"graft/dataset"
	"graft/internal/words"
	"graft/model"
	"graft/trainer/clock"
)

// Profile returns the device profile of the virtual clock, or nil for the wall clock.
func (j *Job) Profile() (*clock.Profile, error) {
	if j.profile != nil || j.Time.Clock == WallClock {
		return j.profile, nil
	}
	return clock.FindProfile(j.Time.Profile)
}

// NetworkName returns the name of the initial network: its name in the zoo, or the name in its file.
func (j *Job) NetworkName() string {
	if j.Program.On() && j.network == nil {
		return programNetwork
	}
	if (j.Network.File != "" || j.Program.On()) && j.network != nil {
		return j.network.Name()
	}
	return j.Network.Name
}

// Model creates the layers of the initial network without allocating their tensors. A zoo network takes its input shape
// and number of classes from the data, or keeps its defaults if the data do not determine them. A network file sets its
// own input shape and number of classes. The key network.classes overrides the number of classes.
func (j *Job) Model(f dataset.Facts) (*model.Network, error) {
	if j.Program.On() {
		return j.programNetwork()
	}
	if j.Network.File == "" {
		return model.Zoo(j.Network.Name, model.ZooOptions{Input: f.Shape, Classes: cmp.Or(j.Network.Classes, f.Classes),
			Tokens: f.Vocabulary, Each: f.Task == dataset.TokenLabel})
	}
	if j.network == nil {
		return nil, fmt.Errorf("the network of %s was not read; use ReadJob", j.Network.File)
	}
	n := j.network.Sketch()
	n.Resize(f.Shape)
	return n, nil
}

// Summary describes the job in one line.
func (j *Job) Summary() (string, error) {
	ends := ""
	if j.Time.Stop > 0 {
		ends = fmt.Sprintf(" until %v", j.Time.Stop)
	}
	if j.Time.StopLoss > 0 {
		ends += fmt.Sprintf(", or a validation loss of %v", j.Time.StopLoss)
	}
	return fmt.Sprintf("%s on %s, %v of a %s clock%s, %s, decider %s; digest %.12s",
		j.source(), j.dataName(), j.Time.Budget, j.Time.Clock, ends,
		words.Plural(len(j.Options().Timeline.Events), "event"), j.Adapt.Decider, j.Digest()), nil
}
