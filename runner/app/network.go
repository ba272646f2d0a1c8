package app

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/model"
	"graft/model/graph/trial"
	"graft/report/runs"
	"graft/torch/weights"
	"graft/trainer"
)

// LoadNetwork creates the network that an argument names, but does not allocate its weights. If the argument looks like
// a path, it is a network file or a run folder; otherwise it is a network from the zoo. If input is nil, the network
// keeps its input shape; if classes is zero, it keeps its number of classes. The number of classes of a network file
// cannot be changed.
func LoadNetwork(fsys files.FS, arg string, input model.Shape, classes int) (*model.Network, error) {
	if IsNetworkFile(arg) {
		return loadNetworkFile(fsys, arg, input, classes)
	}
	n, err := model.Zoo(arg, model.ZooOptions{Classes: classes, Input: input})
	if err != nil && IsFolder(fsys, arg) {
		return loadNetworkFile(fsys, arg, input, classes)
	}
	return n, failure.With(failure.Usage, err)
}

// Try runs an imported graph of operators once in a separate process, since a wrong graph may crash the process. It
// returns an error if the run fails. For networks that graft built, it does nothing. Nil weights mean zeros.
func Try(ctx context.Context, fsys files.FS, n *model.Network, set *weights.Set) error {
	if n.Graph == nil || !n.Graph.Foreign {
		return nil
	}
	if set != nil && n.Graph.Fits(set) != nil {
		set = nil // loading them reports the fault
	}
	return failure.With(failure.Configuration, trial.Passes(ctx, fsys, n.Graph, set))
}

// ParseInput parses the shape of a network's input for a single example, such as 3x32x32. For an empty string it
// returns nil, which means the network's default input shape.
func ParseInput(text string) (model.Shape, error) {
	if text == "" {
		return nil, nil
	}
	shape, err := model.ParseShape(text)
	if err != nil {
		return nil, failure.Usagef("option \"input\": %w", err)
	}
	return shape, nil
}

// IsNetworkFile reports whether an argument looks like the path of a network file.
func IsNetworkFile(arg string) bool {
	return strings.ContainsAny(arg, "/"+string(filepath.Separator)) ||
		slices.Contains([]string{".toml", ".json"}, strings.ToLower(filepath.Ext(arg)))
}

func loadNetworkFile(fsys files.FS, path string, input model.Shape, classes int) (*model.Network, error) {
	if classes != 0 {
		return nil, failure.Usagef("option \"classes\" applies only to networks from the zoo; omit it, because "+
			"the network file %s sets the number of classes", path)
	}
	var n *model.Network
	var err error
	if IsFolder(fsys, path) {
		n, _, err = Trained(fsys, path, trainer.AtEnd)
	} else {
		n, err = config.ReadNetwork(fsys, path)
	}
	var faults config.Faults
	if errors.As(err, &faults) {
		return nil, failure.With(failure.Configuration, err)
	}
	if err != nil || input == nil {
		return n, err
	}
	n.Input = slices.Clone(input)
	if err := n.Check(); err != nil {
		return nil, failure.Usagef("the network of %s does not accept inputs of shape %v: %w", path, input, err)
	}
	return n, nil
}

// WriteWeights writes the weights of a network to a file. A PyTorch file holds a state dict that load_state_dict
// accepts with strict=True.
func WriteWeights(fsys files.FS, path string, n *model.Network, set *weights.Set) error {
	if slices.Contains([]string{".pth", ".pt"}, strings.ToLower(filepath.Ext(path))) {
		set = n.StateDict(set)
	}
	return weights.Write(fsys, path, set)
}

// ReadWeights reads a weight file, or the trained weights of a run folder.
func ReadWeights(fsys files.FS, path string) (*weights.Set, error) {
	if IsFolder(fsys, path) {
		_, set, err := Trained(fsys, path, trainer.AtEnd)
		return set, err
	}
	return runs.ReadWeights(fsys, path)
}
