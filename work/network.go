package work

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

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

// LoadNetwork makes the network that an argument names, without tensors: one of
// the zoo, or what a file says, where the argument looks like a path. No input and
// zero classes mean the network's own. A file's classes cannot be changed.
func LoadNetwork(fsys files.FS, arg string, input model.Shape, classes int) (*model.Network, error) {
	if IsNetworkFile(arg) {
		return loadNetworkFile(fsys, arg, input, classes)
	}
	n, err := model.Zoo(arg, model.ZooOptions{Classes: classes, Input: input})
	return n, failure.With(failure.Usage, err)
}

func IsNetworkFile(arg string) bool {
	return strings.ContainsAny(arg, "/"+string(filepath.Separator)) ||
		slices.Contains([]string{".toml", ".json"}, strings.ToLower(filepath.Ext(arg)))
}

func loadNetworkFile(fsys files.FS, path string, input model.Shape, classes int) (*model.Network, error) {
	if classes != 0 {
		return nil, failure.Usagef("--classes is for networks of the zoo: the file %s says how many its network has", path)
	}
	n, err := config.ReadNetwork(fsys, path)
	var faults config.Faults
	if errors.As(err, &faults) {
		return nil, failure.With(failure.Configuration, err)
	}
	if err != nil || input == nil {
		return n, err
	}
	n.Input = slices.Clone(input)
	if err := n.Check(); err != nil {
		return nil, failure.Usagef("the network of %s does not fit inputs of %v: %w", path, input, err)
	}
	return n, nil
}
