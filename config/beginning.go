package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/model/graph"
	"graft/trainer"
)

// InitialWeights describes the initial weights of a job.
type InitialWeights struct {
	Weights string // path of the initial weights; empty means random weights
	// epoch count at the start of the job: the number of epochs for which the weights were already trained; zero means
	// that the job starts with its first epoch
	Epochs int
	// Accuracy is the published test accuracy of the weights, from 0 to 1; nil if unknown.
	Accuracy *float64
}

// seedMark stands for the seed in file names of weights.
const seedMark = "{seed}"

// InitialWeights describes the initial weights that the section "network" of the job file selects. If the weights are
// in a results folder, their path, epochs and accuracy are known only after ReadJob.
func (j *Job) InitialWeights() InitialWeights { return j.InitialWeightsOf(j.Run.Seed) }

// InitialWeightsOf describes the initial weights for a seed.
func (j *Job) InitialWeightsOf(seed int64) InitialWeights {
	if j.Network.Fresh {
		return InitialWeights{}
	}
	b := InitialWeights{Weights: j.weightsOf(seed)}
	if j.history != nil {
		b = InitialWeights{j.history.Weights, j.history.Epochs, j.history.Accuracy}
	}
	if j.Network.ResetEpochs {
		b.Epochs = 0
	}
	return b
}

// WeightsBySeed reports whether each seed has its own weight file.
func (j *Job) WeightsBySeed() bool { return strings.Contains(j.Network.Weights, seedMark) }

// ConstantsOf returns the path of the weight file if network.fresh is set, otherwise an empty path. With network.fresh,
// parameters are initialized randomly, and the file provides only the tensors that have no random initialization.
func (j *Job) ConstantsOf(seed int64) string {
	if !j.Network.Fresh {
		return ""
	}
	return j.weightsOf(seed)
}

// WeightsDigest returns the SHA-256, in hex, of the weight file for a seed. It returns an empty text if no
// file is named, or if it does not exist.
func (j *Job) WeightsDigest(d *files.Digests, seed int64) (string, error) {
	path := cmp.Or(j.InitialWeightsOf(seed).Weights, j.ConstantsOf(seed))
	info, err := d.FS.Stat(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return "", nil
	}
	return d.SHA256(path)
}

// SharedWeightsDigest returns the SHA-256, in hex, of the weight file that all seeds share. It returns an empty text if
// they share none, or if it does not exist.
func (j *Job) SharedWeightsDigest(d *files.Digests) (string, error) {
	if j.WeightsBySeed() {
		return "", nil
	}
	return j.WeightsDigest(d, j.Run.Seed)
}

// FilesDigest returns the SHA-256, in hex, of the content of the files that the job names, such as the network, the
// profile and the policy. It includes the given digest of the weights that all seeds share. It excludes the images.
func (j *Job) FilesDigest(weights string) string {
	h := sha256.New()
	j.contents(h)
	if !j.WeightsBySeed() {
		fmt.Fprintln(h, "weights", weights)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (j *Job) weightsOf(seed int64) string {
	return strings.ReplaceAll(j.Network.Weights, seedMark, strconv.FormatInt(seed, 10))
}

// Undrawn lists the parameters and the other tensors of an imported network that have no random initialization.
func (j *Job) Undrawn() (parameters, others []string) {
	if j.network == nil || j.network.Graph == nil {
		return nil, nil
	}
	for _, name := range j.network.Graph.Undrawn() {
		if j.network.Graph.Tensor(name).Role == graph.Parameter {
			parameters = append(parameters, name)
		} else {
			others = append(others, name)
		}
	}
	return parameters, others
}

// SharedBySeeds describes the initial state that the seeds of the job share. The description is empty if all weights
// depend on the seed.
func (j *Job) SharedBySeeds() string {
	file := j.Network.Weights
	switch {
	case file == "":
		return ""
	case j.WeightsBySeed() && j.Network.Fresh:
		return fmt.Sprintf("each seed draws its own parameters and takes its buffers and constants from %s", file)
	case j.WeightsBySeed():
		return fmt.Sprintf("each seed starts from its own weights, %s", file)
	case j.Network.Fresh:
		return fmt.Sprintf("each seed draws its own parameters; all take their buffers and constants from %s", file)
	}
	return fmt.Sprintf("all seeds start from the weights in %s and differ only in the order of the data and in the "+
		"random draws of training, surgery and the decider: intervals do not cover other initial weights", file)
}

// begin reads the records of the initial weights. The job continues at the time of those records unless time.start is
// given.
func (j *Job) begin(fsys files.FS, r *decode.Reading) {
	o := j.Network
	_, timed := r.Given["time.start"]
	key, wanted := "network.weights", trainer.WeightsInFolder(o.Weights) && !o.Fresh
	if !wanted {
		// Otherwise the key has no effect.
		key, wanted = "network.runtimes", o.Weights != "" && o.Runtimes != "" && !(o.ResetEpochs && timed)
	}
	r.Attempt(key, wanted, func() (err error) {
		j.history, err = trainer.ReadWeightsHistory(fsys, o.Weights, o.Runtimes)
		return err
	})
	if j.history != nil && !timed {
		j.Time.Start = j.history.Ended
		r.Given["time.start"] = Source{File: j.history.File, Line: j.history.Line}
	}
}
