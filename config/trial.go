package config

import (
	"cmp"
	"context"
	"errors"

	"graft/files"
	"graft/model/graph"
	"graft/model/graph/trial"
	"graft/torch"
	"graft/torch/weights"
)

// try runs an imported network once in a process of its own, and compares the memory of a step with the machine's. Without
// LibTorch there is no trial: the job cannot begin either.
func (j *Job) try(fsys files.FS, g *graph.Graph) error {
	if j.Run.Device == "" || j.Run.Device == "cpu" {
		shape := g.Input.Dims()
		if g.Input.Shape[0].Name != "" {
			shape[0] = cmp.Or(j.Train.MicroBatch, j.Train.Batch)
		}
		if err := trial.Fits(fsys, g, shape); err != nil {
			return err
		}
	}
	err := trial.Passes(context.Background(), fsys, g, j.weightsFor(fsys, g))
	if errors.Is(err, torch.ErrNotLoaded) {
		return nil
	}
	return err
}

// weightsFor are the weights that the job names, where their file can be read and fits; others are zeros in a trial.
func (j *Job) weightsFor(fsys files.FS, g *graph.Graph) *weights.Set {
	path := j.InitialWeights().Weights
	if _, err := weights.FormatOf(path); path == "" || err != nil {
		return nil
	}
	set, err := weights.Read(fsys, path, weights.Options{})
	if err != nil || g.Fits(set) != nil {
		return nil
	}
	return set
}
