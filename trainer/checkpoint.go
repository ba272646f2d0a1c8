package trainer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/torch/weights"
)

// The sections of a checkpoint.
const (
	positionSection  = "position.json" // where the job stands
	networkSection   = "network.json"  // the architecture
	weightsSection   = "weights"       // its tensors, as safetensors
	optimizerSection = "optimizer"     // moments, as safetensors
	lessonsSection   = "lessons"       // a teacher's logits, as safetensors, while there is one
	keptSection      = "kept.json"     // the network as last evaluated, where that counts
	keptWeights      = "kept.weights"  // its tensors
)

// savedPosition is position with what is kept in tensors and generators.
type savedPosition struct {
	position
	Generator []byte  `json:"generator"` // of augmentation and dropout
	Counts    []int64 `json:"counts"`    // steps of each of the optimizer's slots
	Options   string  `json:"options"`   // digest of the options that matter
	Data      string  `json:"data"`      // digest of the data
}

// maybeSave saves the job when it is time. One that is over is saved by finish.
func (j *Job) maybeSave() error {
	if j.Checkpoint.Off || j.Over || j.Now().Sub(j.saved) < j.Checkpoint.Every {
		return nil
	}
	return j.save()
}

// save writes a checkpoint.
func (j *Job) save() error {
	began := j.Now()
	sections, err := j.sections()
	if err != nil {
		return fmt.Errorf("save the job: %w", err)
	}
	j.saved = j.Now()
	err = j.Book.Save(sections)
	j.saves.count++
	j.saves.took += j.Now().Sub(began)
	return err
}

// Saving is how many checkpoints this process has written, and what they took on the
// machine's clock. No result depends on it.
func (j *Job) Saving() (checkpoints int, took time.Duration) { return j.saves.count, j.saves.took }

func (j *Job) sections() ([]Section, error) {
	p := savedPosition{position: j.position, Options: j.optionsDigest(), Data: j.Data.Digest}
	p.Time = j.Clock.Now()
	var err error
	if p.Generator, err = j.random.State(); err != nil {
		return nil, err
	}
	if p.Counts, err = torch.Values[int64](j.optimizer.Steps); err != nil {
		return nil, err
	}
	text, err := json.Marshal(p)
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
	if j.kept != nil {
		if sections, err = appendNetwork(sections, j.kept.network, keptSection, keptWeights); err != nil {
			return nil, err
		}
	}
	if j.lessons == nil {
		return sections, nil
	}
	thoughts, err := j.lessons.Weights(lessonsSection)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = weights.WriteSafetensors(&b, &weights.Set{Tensors: []weights.Tensor{thoughts}})
	return append(sections, Section{lessonsSection, b.Bytes()}), err
}

func (j *Job) optionsDigest() string { return Digest(j.Options) }

// Digest is a SHA-256 in hex that tells options apart that lead to other results.
func Digest(o Options) string {
	o.Checkpoint = Checkpoint{}
	o.Adapt.Surgery.Batch = nil
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
	set, err := n.Save()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := weights.WriteSafetensors(&b, set); err != nil {
		return nil, err
	}
	return append(sections, Section{shape, form}, Section{tensors, b.Bytes()}), nil
}

// moments are the optimizer's tensors under the names of its parameters.
func (j *Job) moments() ([]byte, error) {
	set := &weights.Set{}
	for k, slot := range j.optimizer.Slots {
		for prefix, t := range map[string]*torch.Tensor{"first/": slot.First, "second/": slot.Second} {
			if t == nil {
				continue
			}
			w, err := t.Weights(prefix + j.optimizer.Names[k])
			if err != nil {
				return nil, err
			}
			set.Tensors = append(set.Tensors, w)
		}
	}
	slices.SortFunc(set.Tensors, func(a, b weights.Tensor) int { return strings.Compare(a.Name, b.Name) })
	var b bytes.Buffer
	err := weights.WriteSafetensors(&b, set)
	return b.Bytes(), err
}

// digest is a SHA-256 over a network's architecture and tensors.
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

// Stopped is a checkpoint that a job can go on from.
type Stopped struct {
	Time     time.Duration // on the clock
	position savedPosition
	sections map[string][]byte
}

// ReadStopped reads the sections of a checkpoint.
func ReadStopped(sections map[string][]byte) (*Stopped, error) {
	st := &Stopped{sections: sections}
	if err := json.Unmarshal(sections[positionSection], &st.position); err != nil {
		return nil, fmt.Errorf("read the job's position: %w", err)
	}
	for _, name := range []string{networkSection, weightsSection, optimizerSection} {
		if sections[name] == nil {
			return nil, fmt.Errorf("the checkpoint has no section %q", name)
		}
	}
	st.Time = st.position.Time
	return st, nil
}

// Resume goes on from a checkpoint as the job would have gone on. The parts' network
// is not used; options and data must be those of the job.
func Resume(s *torch.Scope, st *Stopped, p Parts, place model.Placement, o Options) (*Job, error) {
	var err error
	if p.Network, err = restoreNetwork(s, st.sections, networkSection, weightsSection, place); err != nil {
		return nil, fmt.Errorf("resume the job: %w", err)
	}
	j, err := build(s, p, o)
	if err != nil {
		return nil, err
	}
	if st.position.Options != j.optionsDigest() {
		return nil, errors.New("resume the job: its options are not those that it began with; give it those, or begin another run")
	}
	if st.position.Data != p.Data.Digest {
		return nil, fmt.Errorf("resume the job: the images of %s are not those that it began with", p.Data.Name)
	}
	j.position = st.position.position
	j.Scheduler.Resume(Standing{Past: j.Past, Devices: j.Devices, Live: j.Live})
	if err := j.random.Restore(st.position.Generator); err != nil {
		return nil, err
	}
	if err := j.restoreOptimizer(st); err != nil {
		return nil, fmt.Errorf("resume the job: %w", err)
	}
	if err := j.restoreKept(st, place); err != nil {
		return nil, fmt.Errorf("resume the job: %w", err)
	}
	return j, j.restoreLessons(st)
}

func restoreNetwork(s *torch.Scope, sections map[string][]byte, shape, tensors string, place model.Placement) (*model.Network, error) {
	var form map[string]any
	if err := json.Unmarshal(sections[shape], &form); err != nil {
		return nil, fmt.Errorf("%s: %w", shape, err)
	}
	n, err := model.FromForm(form)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shape, err)
	}
	if err := n.Materialize(s, place); err != nil {
		return nil, err
	}
	data := sections[tensors]
	set, err := weights.ReadFrom(bytes.NewReader(data), int64(len(data)), weights.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tensors, err)
	}
	return n, n.Load(set)
}

// restoreOptimizer gives every parameter the state that it had.
func (j *Job) restoreOptimizer(st *Stopped) error {
	data := st.sections[optimizerSection]
	set, err := weights.ReadFrom(bytes.NewReader(data), int64(len(data)), weights.Options{})
	if err != nil {
		return err
	}
	byName := map[string]weights.Tensor{}
	for _, t := range set.Tensors {
		byName[t.Name] = t
	}
	trained := j.Network.Trained()
	if len(st.position.Counts) != len(trained) {
		return fmt.Errorf("%d counts of steps for %d parameters", len(st.position.Counts), len(trained))
	}
	group := torch.Group{OptimizerOptions: j.optimizerOptions()}
	opt := &net2net.Optimizer{}
	for k, e := range trained {
		state := torch.State{Steps: st.position.Counts[k]}
		for prefix, slot := range map[string]**torch.Tensor{"first/": &state.First, "second/": &state.Second} {
			if w, ok := byName[prefix+e.Name]; ok {
				*slot = torch.FromWeights(j.s, j.Network.Placement().Device, w)
				delete(byName, prefix+e.Name)
			}
		}
		group.Params, group.State = append(group.Params, e.Tensor), append(group.State, state)
		opt.Names = append(opt.Names, e.Name)
	}
	if len(byName) > 0 {
		return fmt.Errorf("moments of other parameters: %v", slices.Sorted(maps.Keys(byName)))
	}
	opt.Optimizer = j.s.NewOptimizer(group)
	j.optimizer = opt
	return j.s.Err()
}

func (j *Job) restoreKept(st *Stopped, place model.Placement) (err error) {
	if st.sections[keptSection] != nil {
		j.kept = &kept{scope: torch.NewScope()}
		j.kept.network, err = restoreNetwork(j.kept.scope, st.sections, keptSection, keptWeights, place)
	}
	return err
}

// restoreLessons gives the job back what a teacher thought.
func (j *Job) restoreLessons(st *Stopped) error {
	data := st.sections[lessonsSection]
	if data == nil {
		return nil
	}
	set, err := weights.ReadFrom(bytes.NewReader(data), int64(len(data)), weights.Options{})
	if err != nil {
		return fmt.Errorf("resume the job's lessons: %w", err)
	}
	if len(set.Tensors) != 1 {
		return fmt.Errorf("resume the job's lessons: %d tensors; there is one", len(set.Tensors))
	}
	j.lessons = torch.FromWeights(j.s, j.Network.Placement().Device, set.Tensors[0])
	return j.s.Err()
}
