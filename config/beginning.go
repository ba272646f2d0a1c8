package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/model/graph"
	"graft/original"
	"graft/torch/weights"
)

// InitialWeights describes the initial weights of a job.
type InitialWeights struct {
	Weights string // file of the initial weights; empty draws random ones
	Epochs  int    // epochs before the job that it counts; zero starts from the beginning
	// Accuracy is the published test accuracy of the weights, from 0 to 1; nil means
	// unknown.
	Accuracy *float64
}

// history holds the original's records about weights.
type history struct {
	weights  string        // file
	epochs   int           // of training
	ended    time.Duration // end of the last epoch, in the budget
	from     Source        // of ended
	accuracy *float64      // test accuracy after it, from 0 to 1; nil where it was not recorded
}

// seedMark stands for the seed in the name of a file of weights.
const seedMark = "{seed}"

// InitialWeights returns the initial weights that the section network names. The contents of
// a folder are known after ReadJob only.
func (j *Job) InitialWeights() InitialWeights { return j.InitialWeightsOf(j.Run.Seed) }

// InitialWeightsOf returns the initial weights of a seed.
func (j *Job) InitialWeightsOf(seed int64) InitialWeights {
	if j.Network.Fresh {
		return InitialWeights{}
	}
	b := InitialWeights{Weights: j.weightsOf(seed)}
	if j.history != nil {
		b = InitialWeights{j.history.weights, j.history.epochs, j.history.accuracy}
	}
	if j.Network.ResetEpochs {
		b.Epochs = 0
	}
	return b
}

// WeightsBySeed reports whether each seed has its own file of weights.
func (j *Job) WeightsBySeed() bool { return strings.Contains(j.Network.Weights, seedMark) }

// ConstantsOf returns the file from which a network with fresh parameters takes what nothing says how to
// draw; empty for none.
func (j *Job) ConstantsOf(seed int64) string {
	if !j.Network.Fresh {
		return ""
	}
	return j.weightsOf(seed)
}

func (j *Job) weightsOf(seed int64) string {
	return strings.ReplaceAll(j.Network.Weights, seedMark, strconv.FormatInt(seed, 10))
}

// Undrawn lists the parameters of the network of which nothing says how they are drawn, and its other such tensors.
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

// SharedBySeeds says what the seeds of the job have in common at the start; empty where each draws all weights.
func (j *Job) SharedBySeeds() string {
	file := j.Network.Weights
	switch {
	case file == "":
		return ""
	case j.WeightsBySeed() && j.Network.Fresh:
		return fmt.Sprintf("each seed draws its own parameters; its buffers and constants are those of %s", file)
	case j.WeightsBySeed():
		return fmt.Sprintf("each seed begins with its own weights, %s", file)
	case j.Network.Fresh:
		return fmt.Sprintf("each seed draws its own parameters; all share the buffers and constants of %s", file)
	}
	return fmt.Sprintf("all seeds begin with the same weights, those of %s, and differ in the order of the data and "+
		"what training, surgery and the decider draw: intervals do not tell how other first weights would do", file)
}

// begin reads the records about the initial weights. A job continues at the time at which
// they were written, unless time.start is given.
func (j *Job) begin(fsys files.FS, r *decode.Reading) {
	o := j.Network
	_, timed := r.Given["time.start"]
	key, wanted := "network.weights", o.inFolder() && !o.Fresh
	if !wanted {
		// else it has no effect
		key, wanted = "network.runtimes", o.Weights != "" && o.Runtimes != "" && !(o.ResetEpochs && timed)
	}
	r.Attempt(key, wanted, func() (err error) {
		j.history, err = o.history(fsys)
		return err
	})
	if j.history != nil && !timed {
		j.Time.Start = j.history.ended
		r.Given["time.start"] = j.history.from
	}
}

// inFolder says whether the weights are named by their folder: a file is recognised by
// its ending.
func (o NetworkOptions) inFolder() bool {
	_, err := weights.FormatOf(o.Weights)
	return o.Weights != "" && err != nil
}

// history reads the records that the section names.
func (o NetworkOptions) history(fsys files.FS) (*history, error) {
	h := &history{weights: o.Weights}
	runtimes := o.Runtimes
	var tests []original.Metric
	if o.inFolder() {
		l, err := openFolder(fsys, o.Weights)
		if err != nil {
			return nil, err
		}
		if h.weights, err = weightsIn(l); err != nil {
			return nil, err
		}
		runtimes = cmp.Or(runtimes, filepath.Join(l.Path, "runtimes"))
		tests = l.Metrics
	}
	rows, err := original.ReadRuntimes(fsys, runtimes)
	if err != nil {
		return nil, err
	}
	if err := inOrder(rows); err != nil {
		return nil, fmt.Errorf("%s: %w", runtimes, err)
	}
	h.epochs = len(rows)
	h.end(rows, runtimes)
	return h, h.test(tests)
}

func openFolder(fsys files.FS, path string) (*original.Folder, error) {
	if info, err := fsys.Stat(path); err != nil || !info.IsDir() {
		_, unknown := weights.FormatOf(path)
		return nil, fmt.Errorf("%w, or name a folder that is there", unknown)
	}
	return original.ReadFolder(fsys, path)
}

// weightsIn finds the one file of weights in a folder.
func weightsIn(l *original.Folder) (string, error) {
	var found []string
	for _, name := range l.Others {
		if _, err := weights.FormatOf(name); err != nil {
			continue
		}
		if strings.TrimSuffix(name, filepath.Ext(name)) == "weights" {
			found = []string{name}
			break
		}
		found = append(found, name)
	}
	if len(found) == 1 {
		return filepath.Join(l.Path, found[0]), nil
	}
	return "", fmt.Errorf("%s has %d files of weights, and none is called weights.pth; name the file, "+
		"and runtimes beside it", l.Path, len(found))
}

// inOrder checks the times of epochs.
func inOrder(rows []original.Row) error {
	if len(rows) == 0 {
		return errors.New("it holds no epoch")
	}
	for k, row := range rows {
		if !(row.Seconds >= 0) || row.Seconds > math.MaxInt64/1e9 || k > 0 && row.Seconds < rows[k-1].Seconds {
			return fmt.Errorf("the epoch in line %d ends after %v seconds; times must not be negative, and ascend", k+1,
				row.Seconds)
		}
	}
	return nil
}

// end moves the end of the last epoch to the last of the rows.
func (h *history) end(rows []original.Row, path string) {
	last := time.Duration(math.Round(rows[len(rows)-1].Seconds * 1e9))
	if last >= h.ended {
		h.ended, h.from = last, Source{File: path, Line: len(rows)}
	}
}

// test takes the accuracy after the last epoch, which the budget includes, where one
// table of the folder has it.
func (h *history) test(metrics []original.Metric) error {
	var found []original.Metric
	for _, m := range metrics {
		if m.Granularity == "epoch" && m.Metric == "test_acc" && len(m.Rows) == h.epochs {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		return nil
	}
	path := filepath.Join(filepath.Dir(h.weights), found[0].File)
	if err := inOrder(found[0].Rows); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	h.end(found[0].Rows, path)
	if v := found[0].Rows[h.epochs-1].Value; v.Single {
		h.accuracy = &v.Numbers[0]
	}
	return nil
}
