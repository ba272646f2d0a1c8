package app

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/model"
	"graft/report/runs"
	"graft/torch/weights"
	"graft/trainer"
)

// Files of a trained network in the run folder of a completed job.
const (
	NetworkFile = "network.toml"
	WeightsFile = "weights.safetensors"
)

// Files of the best network by validation accuracy in the run folder of a job that keeps it.
const (
	bestNetworkFile = "best.toml"
	bestWeightsFile = "best.safetensors"
)

// trainedFiles returns the paths of a trained network and its weights.
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

// Trained reads the final or the best network of a job, and its weights, from the job's run folder. It does not load
// the weights into the network. If the job is not complete, Trained reads the newest checkpoint instead of the result.
func Trained(fsys files.FS, folder string, which trainer.Which) (*model.Network, *weights.Set, error) {
	network, tensors := trainedFiles(folder, which)
	n, err := config.ReadNetwork(fsys, network)
	var set *weights.Set
	if err == nil {
		set, err = runs.ReadWeights(fsys, tensors)
	}
	if errors.Is(err, fs.ErrNotExist) { // one of the two files is missing
		return savedResult(fsys, folder, which)
	}
	return n, set, err
}

func savedResult(fsys files.FS, folder string, which trainer.Which) (*model.Network, *weights.Set, error) {
	n, set, err := trainer.SavedResult(fsys, folder, which)
	if err == nil && n == nil && which == trainer.AtBest {
		err = failure.Usagef(
			"%s has no best network: jobs keep it only with train.keep_best = true; use the final network", folder)
	}
	if err == nil && n == nil {
		err = failure.Usagef("%s has no trained network: name the run folder of a training job that has saved "+
			"a checkpoint", folder)
	}
	return n, set, err
}

// Images describes how images are prepared as inputs of a trained network, and the meaning of the network's outputs.
// Nil fields are unknown.
type Images struct {
	// mean and standard deviation of each channel, for pixels from 0 to 1; both or neither are set
	Mean, Deviation []float64
	Classes         []string // name of each output
}

// Keys in the metadata of a weight file. Their values are JSON.
const (
	meanKey      = "mean"
	deviationKey = "deviation"
	classesKey   = "classes"
)

// WriteTrained writes the trained networks in the newest checkpoint into the run folder, together with the description
// of their input images.
func WriteTrained(fsys files.FS, folder string, images Images) error {
	for _, which := range []trainer.Which{trainer.AtEnd, trainer.AtBest} {
		n, set, err := trainer.SavedResult(fsys, folder, which)
		if err != nil {
			return err
		}
		if n == nil {
			continue
		}
		set.Metadata = images.Metadata()
		network, tensors := trainedFiles(folder, which)
		if err := errors.Join(weights.Write(fsys, tensors, set), config.WriteNetwork(fsys, network, n)); err != nil {
			return err
		}
	}
	return nil
}

// Metadata converts the description of images to metadata of a weight file, and omits unknown fields.
func (i Images) Metadata() map[string]string {
	record := map[string]string{}
	add := func(key string, value any, known bool) {
		if text, err := json.Marshal(value); err == nil && known { // values that JSON does not support are unknown
			record[key] = string(text)
		}
	}
	add(meanKey, i.Mean, i.Mean != nil)
	add(deviationKey, i.Deviation, i.Deviation != nil)
	add(classesKey, i.Classes, i.Classes != nil)
	return record
}

// ImagesOf reads the description of images from the metadata of a network's weights, and omits fields that do not match
// the network.
func ImagesOf(n *model.Network, set *weights.Set) (i Images) {
	if set == nil {
		return i
	}
	channels := append(slices.Clone(n.Input), 0)[0]
	out, err := n.Output()
	fits := func(key string, value any) bool {
		return err == nil && json.Unmarshal([]byte(set.Metadata[key]), value) == nil
	}
	if !fits(meanKey, &i.Mean) || !fits(deviationKey, &i.Deviation) || len(i.Mean) != channels ||
		len(i.Deviation) != channels {
		i.Mean, i.Deviation = nil, nil
	}
	if !fits(classesKey, &i.Classes) || len(out) == 0 || len(i.Classes) != out[len(out)-1] {
		i.Classes = nil
	}
	return i
}
