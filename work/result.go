package work

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"graft/config"
	"graft/files"
	"graft/model"
	"graft/results/failure"
	"graft/results/runs"
	"graft/torch/weights"
	"graft/trainer"
)

// The files of a finished job's trained network in its run folder.
const (
	NetworkFile = "network.toml"
	WeightsFile = "weights.safetensors"
)

// The files of the best network by validation, of a job that keeps it.
const (
	bestNetworkFile = "best.toml"
	bestWeightsFile = "best.safetensors"
)

// trainedFiles are the paths of a trained network and its weights.
func trainedFiles(folder string, which trainer.Which) (network, weights string) {
	if which == trainer.AtBest {
		return filepath.Join(folder, bestNetworkFile), filepath.Join(folder, bestWeightsFile)
	}
	return filepath.Join(folder, NetworkFile), filepath.Join(folder, WeightsFile)
}

// IsFolder reports whether an argument names a folder.
func IsFolder(fsys files.FS, path string) bool {
	info, err := fsys.Stat(path)
	return err == nil && info.IsDir()
}

// Trained reads a trained network of a job's run folder, without tensors, and its weights: of a
// finished job, or of the newest checkpoint.
func Trained(fsys files.FS, folder string, which trainer.Which) (*model.Network, *weights.Set, error) {
	network, tensors := trainedFiles(folder, which)
	n, err := config.ReadNetwork(fsys, network)
	var set *weights.Set
	if err == nil {
		set, err = runs.ReadWeights(fsys, tensors)
	}
	if errors.Is(err, fs.ErrNotExist) { // a file of the two is missing
		return savedResult(fsys, folder, which)
	}
	return n, set, err
}

func savedResult(fsys files.FS, folder string, which trainer.Which) (*model.Network, *weights.Set, error) {
	n, set, err := trainer.SavedResult(fsys, folder, which)
	if err == nil && n == nil && which == trainer.AtBest {
		err = failure.Usagef("%s has no best network: jobs keep it with train.keep_best; take the final one", folder)
	}
	if err == nil && n == nil {
		err = failure.Usagef("%s has no trained network: name the run folder of a training job that has saved a checkpoint", folder)
	}
	return n, set, err
}

// WriteTrained writes the trained networks of the newest checkpoint into the run folder, with
// how images are normalized.
func WriteTrained(fsys files.FS, folder string, mean, deviation []float64) error {
	for _, which := range []trainer.Which{trainer.AtEnd, trainer.AtBest} {
		n, set, err := trainer.SavedResult(fsys, folder, which)
		if err != nil {
			return err
		}
		if n == nil {
			continue
		}
		set.Metadata = map[string]string{}
		for key, values := range map[string][]float64{"mean": mean, "deviation": deviation} {
			text, err := json.Marshal(values)
			if err != nil {
				return fmt.Errorf("record the %s of images: %w", key, err)
			}
			set.Metadata[key] = string(text)
		}
		network, tensors := trainedFiles(folder, which)
		if err := errors.Join(weights.Write(fsys, tensors, set), config.WriteNetwork(fsys, network, n)); err != nil {
			return err
		}
	}
	return nil
}

// Normalization returns the mean and deviation of images that WriteTrained recorded; nil
// without a record.
func Normalization(set *weights.Set) (mean, deviation []float64) {
	if json.Unmarshal([]byte(set.Metadata["mean"]), &mean) != nil || json.Unmarshal([]byte(set.Metadata["deviation"]), &deviation) != nil || len(mean) != len(deviation) {
		return nil, nil
	}
	return mean, deviation
}
