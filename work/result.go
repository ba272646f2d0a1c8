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

// IsFolder reports whether an argument names a folder.
func IsFolder(fsys files.FS, path string) bool {
	info, err := fsys.Stat(path)
	return err == nil && info.IsDir()
}

// Trained reads the trained network of a job's run folder, without tensors, and its weights:
// of a finished job, or of the newest checkpoint.
func Trained(fsys files.FS, folder string) (*model.Network, *weights.Set, error) {
	n, err := config.ReadNetwork(fsys, filepath.Join(folder, NetworkFile))
	var set *weights.Set
	if err == nil {
		set, err = runs.ReadWeights(fsys, filepath.Join(folder, WeightsFile))
	}
	if errors.Is(err, fs.ErrNotExist) { // a file of the two is missing
		return savedResult(fsys, folder)
	}
	return n, set, err
}

func savedResult(fsys files.FS, folder string) (*model.Network, *weights.Set, error) {
	n, set, err := trainer.SavedResult(fsys, folder)
	if err == nil && n == nil {
		err = failure.Usagef("%s has no trained network: name the run folder of a training job that has saved a checkpoint", folder)
	}
	return n, set, err
}

// WriteTrained writes the trained network of the newest checkpoint into the run folder, with
// how images are normalized.
func WriteTrained(fsys files.FS, folder string, mean, deviation []float64) error {
	n, set, err := trainer.SavedResult(fsys, folder)
	if err != nil || n == nil {
		return err
	}
	set.Metadata = map[string]string{}
	for key, values := range map[string][]float64{"mean": mean, "deviation": deviation} {
		text, err := json.Marshal(values)
		if err != nil {
			return fmt.Errorf("record the %s of images: %w", key, err)
		}
		set.Metadata[key] = string(text)
	}
	if err := weights.Write(fsys, filepath.Join(folder, WeightsFile), set); err != nil {
		return err
	}
	return config.WriteNetwork(fsys, filepath.Join(folder, NetworkFile), n)
}

// Normalization returns the mean and deviation of images that WriteTrained recorded; nil
// without a record.
func Normalization(set *weights.Set) (mean, deviation []float64) {
	if json.Unmarshal([]byte(set.Metadata["mean"]), &mean) != nil || json.Unmarshal([]byte(set.Metadata["deviation"]), &deviation) != nil || len(mean) != len(deviation) {
		return nil, nil
	}
	return mean, deviation
}
