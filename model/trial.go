package model

import (
	"context"
	"errors"

	"graft/internal/files"
	"graft/model/graph/trial"
	"graft/torch"
	"graft/torch/weights"
)

// If the network is a graph, Try runs it once in a separate process. It uses the weights in the file at path if the
// file is readable and fits the graph, and zeros otherwise. It returns an error if the run fails; the graph must then
// not run in this process. Without LibTorch it does nothing.
func (n *Network) Try(ctx context.Context, fsys files.FS, path string) error {
	if n.Graph == nil {
		return nil
	}
	var set *weights.Set
	if _, err := weights.FormatOf(path); path != "" && err == nil {
		if set, err = weights.Read(fsys, path, weights.Options{}); err != nil || n.Graph.Fits(set) != nil {
			set = nil
		}
	}
	err := trial.Passes(ctx, fsys, n.Graph, set)
	if errors.Is(err, torch.ErrNotLoaded) {
		return nil
	}
	return err
}

// FitsMachine returns an error if a training step of a graph, on the given number of examples, needs more memory than
// the machine has. If examples is zero or the graph has a fixed batch size, the step has the number of examples that
// the graph was exported with.
func (n *Network) FitsMachine(fsys files.FS, examples int) error {
	shape := n.Graph.Input.Dims()
	if n.Graph.Input.Shape[0].Name != "" && examples > 0 {
		shape[0] = examples
	}
	return trial.Fits(fsys, n.Graph, shape)
}
