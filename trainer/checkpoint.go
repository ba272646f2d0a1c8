package trainer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"graft/model"
	"graft/torch"
	"graft/torch/weights"
	"graft/trainer/program"
)

// Sections of a checkpoint.
const (
	positionSection  = "position.json" // counters and settings; see positionKeys
	networkSection   = "network.json"  // the architecture
	weightsSection   = "weights"       // the network's tensors, as safetensors
	optimizerSection = "optimizer"     // moments, as safetensors
	averageSection   = "average"       // the average of the weights, as safetensors, with EMA
	logitsSection    = "lessons"       // logits of a larger network, as safetensors, during distillation
	keptSection      = "kept.json"     // the network as last evaluated, with Overrun
	keptWeights      = "kept.weights"  // its tensors
	bestSection      = "best.json"     // the best network by validation, with KeepBest
	bestWeights      = "best.weights"  // its tensors
)

// saves counts checkpoints and their time, on the wall clock.
type saves struct {
	last  time.Time     // time of the last checkpoint
	next  time.Duration // time on the clock of the next kept checkpoint; zero without kept checkpoints
	count int
	took  time.Duration
}

// saveIfDue saves the job if Checkpoint.Every has passed. A job that is over is saved by finish.
func (j *Job) saveIfDue() error {
	if j.Checkpoint.Off || j.Over || j.Now().Sub(j.saves.last) < j.Checkpoint.Every {
		return nil
	}
	return j.save()
}

// keepIfDue keeps a checkpoint if the clock has passed a multiple of Checkpoint.Keep.
func (j *Job) keepIfDue() error {
	if j.saves.next == 0 || j.Over || j.Clock.Now() < j.saves.next {
		return nil
	}
	j.saves.next = nextMultiple(j.Checkpoint.Keep, j.Clock.Now())
	sections, err := j.sections()
	if err != nil {
		return fmt.Errorf("keep a checkpoint: %w", err)
	}
	return j.Book.Keep(j.Time, sections)
}

// nextKept is the time of the next kept checkpoint; zero without kept checkpoints.
func (j *Job) nextKept() time.Duration { return j.saves.next }

// nextMultiple is the first multiple of an interval after a time; zero without an interval.
func nextMultiple(every, now time.Duration) time.Duration {
	if every == 0 {
		return 0
	}
	return (now/every + 1) * every
}

// saveBefore saves the job before a change of devices that restarts an external program, which may fail.
func (j *Job) saveBefore(a Allocation) error {
	if j.Checkpoint.Off || j.remote == nil || j.remote.Restart == nil || a.Devices == j.Devices {
		return nil
	}
	return j.save()
}

func (j *Job) save() error {
	began := j.Now()
	sections, err := j.sections()
	if err != nil {
		return fmt.Errorf("save the job: %w", err)
	}
	j.saves.last = j.Now()
	err = j.Book.Save(sections)
	j.saves.count++
	j.saves.took += j.Now().Sub(began)
	return err
}

func (j *Job) sections() ([]Section, error) {
	if err := errors.Join(j.pull(), j.push()); err != nil {
		return nil, err
	}
	text, err := j.position()
	if err != nil {
		return nil, err
	}
	sections := []Section{{positionSection, text}}
	if sections, err = appendNetwork(sections, j.Network, networkSection, weightsSection); err != nil {
		return nil, err
	}
	moments, err := j.moments()
	if err != nil {
		return nil, err
	}
	sections = append(sections, Section{optimizerSection, moments})
	if j.remote != nil {
		state, err := j.remote.Session.Save()
		if err != nil {
			return nil, err
		}
		sections = append(sections, Section{programSection, state})
	}
	if j.average != nil {
		if sections, err = appendTensors(sections, j.average, averageSection); err != nil {
			return nil, err
		}
	}
	if kept := j.evaluation.kept; kept != nil {
		if sections, err = appendNetwork(sections, kept.network, keptSection, keptWeights); err != nil {
			return nil, err
		}
	}
	if best := j.evaluation.best; best != nil {
		if sections, err = appendNetwork(sections, best.network, bestSection, bestWeights); err != nil {
			return nil, err
		}
	}
	if j.logits == nil {
		return sections, nil
	}
	logits, err := j.logits.Weights(logitsSection)
	if err != nil {
		return nil, err
	}
	data, err := safetensors(&weights.Set{Tensors: []weights.Tensor{logits}})
	return append(sections, Section{logitsSection, data}), err
}

// origin holds the values that a resumed job must match, and state that is stored outside tensors.
type origin struct {
	Generator []byte  `json:"generator"` // state of the generator of augmentation and dropout
	Counts    []int64 `json:"counts"`    // steps of each of the optimizer's slots
	Options   string  `json:"options"`   // digest of the options that change results
	Data      string  `json:"data"`      // digest of the data
	// epoch size of the external program; nil without an external program
	Program *program.Facts `json:"program,omitempty"`
}

// positionKeys are the keys of position.json in order, so that equal jobs write equal bytes.
var positionKeys = []string{"epoch", "step", "steps", "rate", "lr", "restarted_ns", "low_rate", "time_ns", "spent_ns",
	"past", "live", "devices", "asked", "asking", "decisions", "loss", "correct", "seen", "missing", "fresh",
	"validation", "curve", "changes", "abandoned", "divided", "levels", "lessons", "taught", "course", "teaching",
	"deciding_ns", "operating_ns", "skipped", "late", "plateau", "warm_until", "started", "over", "ended", "best",
	"scaler", "batching", "images", "flop", "device_ns", "generator", "counts", "options", "data", "program"}

func (j *Job) position() ([]byte, error) {
	j.settle()
	o := origin{Options: Digest(j.Options), Data: j.Data.Digest}
	if j.remote != nil {
		o.Program = &j.remote.Facts
	}
	var err error
	if o.Generator, err = j.random.State(); err != nil {
		return nil, err
	}
	if o.Counts, err = torch.Values[int64](j.optimizer.Steps); err != nil {
		return nil, err
	}
	values := map[string]json.RawMessage{}
	for _, part := range append(j.parts(), &o) {
		text, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &values); err != nil {
			return nil, err
		}
	}
	var fields [][]byte
	for _, key := range positionKeys {
		if value, ok := values[key]; ok {
			fields = append(fields, fmt.Appendf(nil, "%q:%s", key, value))
		}
	}
	return fmt.Appendf(nil, "{%s}", bytes.Join(fields, []byte(","))), nil
}

// parts returns the part of the position of each part of the job.
func (j *Job) parts() []any {
	return []any{&j.progress, &j.batching, &j.sums, &j.adaptation.growth, &j.distillation.course,
		&j.evaluation.bestSoFar}
}

// Digest returns the hexadecimal SHA-256 hash of the options that affect results.
func Digest(o Options) string {
	o.Checkpoint = Checkpoint{}
	o.Adapt.Surgery.Batch = nil
	o.Adapt.Surgery.Split = o.Adapt.Surgery.SplitRule() // another default must not continue old results
	text, err := json.Marshal(o)
	if err != nil {
		return err.Error() // no field can fail
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func appendNetwork(sections []Section, n *model.Network, shape, tensors string) ([]Section, error) {
	form, err := json.Marshal(n.Form().Plain())
	if err != nil {
		return nil, err
	}
	return appendTensors(append(sections, Section{shape, form}), n, tensors)
}

func appendTensors(sections []Section, n *model.Network, name string) ([]Section, error) {
	set, err := saved(n)
	if err != nil {
		return nil, err
	}
	data, err := safetensors(set)
	return append(sections, Section{name, data}), err
}

// digest is a SHA-256 in hex of a network's architecture and tensors.
func digest(n *model.Network) (string, error) {
	sections, err := appendNetwork(nil, n, networkSection, weightsSection)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, section := range sections {
		h.Write(section.Data)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
