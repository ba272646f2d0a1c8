package model

import (
	"context"
	"errors"

	"graft/internal/files"
	"graft/model/graph/trial"
	"graft/torch"
	"graft/torch/weights"
)

// Try runs a network that is a graph once in a process of its own, with the weights of a file if it can be read and
// fits; others are zeros. It is an error if the graph must not run in this process. Without LibTorch nothing is tried.
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

// FitsMachine compares the memory of a step of a graph with the machine's, for a number of examples; zero is those of
// the example that it was imported with.
func (n *Network) FitsMachine(fsys files.FS, examples int) error {
	shape := n.Graph.Input.Dims()
	if n.Graph.Input.Shape[0].Name != "" && examples > 0 {
		shape[0] = examples
	}
	return trial.Fits(fsys, n.Graph, shape)
}
