package work

import (
	"errors"
	"fmt"
	"io/fs"

	"graft/config"
	"graft/dataset"
	"graft/files"
	"graft/model"
	"graft/results/failure"
	"graft/torch"
	"graft/torch/weights"
	"graft/trainer"
)

func Placement(s *torch.Scope, device torch.Device, seed int64) model.Placement {
	return model.Placement{Device: device, Random: s.NewGenerator(torch.CPU, seed)}
}

// FirstNetwork makes a job's network with its first weights, those that are drawn from
// a seed.
func FirstNetwork(s *torch.Scope, fsys files.FS, job *config.Job, data *dataset.Set, device torch.Device, seed int64) (*model.Network, error) {
	n, err := job.Model(data.Shape[:], len(data.Classes))
	if err != nil {
		return nil, err
	}
	if err := job.Suits(n); err != nil { // before an up, which may be hours away
		return nil, failure.With(failure.Configuration, err)
	}
	first := job.Beginning().Weights
	if err := n.Materialize(s, Placement(s, device, seed)); err != nil || first == "" {
		return n, err
	}
	set, err := ReadWeights(fsys, first)
	if err != nil {
		return nil, err
	}
	if err := n.Load(set); err != nil {
		return nil, fmt.Errorf("%s: %w", first, err)
	}
	return n, nil
}

// FirstScore is what is known of first weights that were read, found out while no clock
// runs; nil where they were drawn.
func FirstScore(job *config.Job, n *model.Network, data *dataset.Set) (*trainer.Given, error) {
	b := job.Beginning()
	if b.Weights == "" {
		return nil, nil
	}
	score, err := trainer.Appraise(n, data, job.Options())
	if err != nil {
		return nil, err
	}
	return &trainer.Given{Epochs: b.Epochs, Score: score}, nil
}

// ReadWeights tells a file that cannot be opened from one that cannot be
// understood.
func ReadWeights(fsys files.FS, path string) (*weights.Set, error) {
	set, err := weights.Read(fsys, path, weights.Options{})
	var system *fs.PathError
	if err != nil && !errors.As(err, &system) {
		err = failure.With(failure.Damaged, err)
	}
	return set, err
}
