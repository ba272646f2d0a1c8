package config

import (
	"cmp"
	"context"
	"errors"

	"graft/internal/files"
	"graft/model/graph"
	"graft/model/graph/trial"
	"graft/torch"
	"graft/torch/weights"
)

// fitsMachine compares the memory of a pass on a batch with the machine's, for jobs on the CPU.
func (j *Job) fitsMachine(fsys files.FS, g *graph.Graph) error {
	if fsys == nil || j.Run.Device != "" && j.Run.Device != "cpu" {
		return nil
	}
	shape := g.Input.Dims()
	if g.Input.Shape[0].Name != "" {
		shape[0] = cmp.Or(j.Train.MicroBatch, j.Train.Batch)
		if j.Train.MaxMemoryMB > 0 { // parts are as small as they must be
			shape[0] = 1
		}
	}
	return trial.Fits(fsys, g, shape)
}

// try runs an imported network once in a process of its own. Without LibTorch there is no trial: the job
// cannot begin either.
func (j *Job) try(fsys files.FS, g *graph.Graph) error {
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
