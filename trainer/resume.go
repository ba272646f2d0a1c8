package trainer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"graft/model"
	"graft/torch"
	"graft/torch/weights"
)

// SavedJob is the content of a job's checkpoint.
type SavedJob struct {
	Reached
	sections map[string][]byte
}

// ReadSavedJob reads the sections of a checkpoint.
func ReadSavedJob(sections map[string][]byte) (*SavedJob, error) {
	reached, err := readReached(sections[positionSection])
	if err != nil {
		return nil, err
	}
	for _, name := range []string{networkSection, weightsSection, optimizerSection} {
		if sections[name] == nil {
			return nil, fmt.Errorf("the checkpoint has no section %q", name)
		}
	}
	return &SavedJob{reached, sections}, nil
}

// Devices returns the number of devices of the job when it was saved.
func (st *SavedJob) Devices() (int, error) {
	var position progress
	err := decodePosition(st.sections[positionSection], &position)
	return position.Devices, err
}

func readReached(text []byte) (Reached, error) {
	var position progress
	if err := decodePosition(text, &position); err != nil {
		return Reached{}, err
	}
	return Reached{position.Time, position.Past, position.Decisions, len(position.Live), position.Over}, nil
}

// decodePosition decodes a part of the position.
func decodePosition(text []byte, part any) error {
	if err := json.Unmarshal(text, part); err != nil {
		return fmt.Errorf("read the job's progress: %w", err)
	}
	return nil
}

// Resume continues a job from its checkpoint, with the same results. Options and data must match the saved job; if
// Parts.Was is set, later parts of the timeline may differ. The network in the argument p is not used. A job whose
// timeline changes is saved immediately.
func Resume(s *torch.Scope, st *SavedJob, p Parts, place model.Placement, o Options) (*Job, error) {
	j, err := resume(s, st, p, place, o)
	if err != nil {
		return nil, fmt.Errorf("resume the job: %w", err)
	}
	return j, nil
}

func resume(s *torch.Scope, st *SavedJob, p Parts, place model.Placement, o Options) (*Job, error) {
	var err error
	if p.Network, err = st.network(s, networkSection, weightsSection, place); err != nil {
		return nil, err
	}
	j, err := build(s, p, o, func(*model.Network) error { return nil })
	if err != nil {
		return nil, err
	}
	var from origin
	for _, part := range append(j.parts(), &from) {
		if err := decodePosition(st.sections[positionSection], part); err != nil {
			return nil, err
		}
	}
	if j.remote != nil {
		j.remote.devices = j.Devices
	}
	changed, err := p.accept(from.Options, j.Options, st.Reached)
	if err != nil {
		return nil, err
	}
	if from.Data != j.Data.Digest {
		return nil, fmt.Errorf("the images of %s differ from the images that the job started with; "+
			"restore the images, or start a new run", p.Data.Name)
	}
	j.Scheduler.Resume(SchedulerState{Past: j.Past, Devices: j.Devices, Live: j.Live})
	if err := j.random.Restore(from.Generator); err != nil {
		return nil, err
	}
	err = errors.Join(st.optimizer(j.replica, from.Counts), st.average(j.replica), st.kept(&j.evaluation, place),
		st.logits(j.replica))
	if err == nil {
		err = st.restoreProgram(j.replica)
	}
	if err != nil {
		j.close()
		return nil, err
	}
	if changed {
		return j, j.save() // save the changed job immediately
	}
	return j, nil
}

// network restores a network from two sections.
func (st *SavedJob) network(s *torch.Scope, shape, tensors string, place model.Placement) (*model.Network, error) {
	var form map[string]any
	if err := json.Unmarshal(st.sections[shape], &form); err != nil {
		return nil, fmt.Errorf("%s: %w", shape, err)
	}
	n, err := model.FromForm(form)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shape, err)
	}
	if err := n.Materialize(s, place); err != nil {
		return nil, err
	}
	set, err := st.tensors(tensors)
	if err != nil {
		return nil, err
	}
	return n, n.Load(set)
}

func (st *SavedJob) tensors(section string) (*weights.Set, error) {
	data := st.sections[section]
	set, err := weights.ReadFrom(bytes.NewReader(data), int64(len(data)), weights.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", section, err)
	}
	return set, nil
}

func (st *SavedJob) optimizer(r *replica, counts []int64) error {
	set, err := st.tensors(optimizerSection)
	if err != nil {
		return err
	}
	saved := map[string]weights.Tensor{}
	for _, t := range set.Tensors {
		saved[t.Name] = t
	}
	err = r.resumeOptimizer(counts, func(name string) *torch.Tensor {
		w, ok := saved[name]
		if !ok {
			return nil
		}
		delete(saved, name)
		return torch.FromWeights(r.scope, r.Network.Placement().Device, w)
	})
	if err == nil && len(saved) > 0 {
		return fmt.Errorf("the checkpoint has optimizer moments for unknown parameters %v",
			slices.Sorted(maps.Keys(saved)))
	}
	return err
}

// average restores the average of the weights, with Options.EMA.
func (st *SavedJob) average(r *replica) (err error) {
	if r.EMA > 0 {
		r.average, err = st.network(r.scope, networkSection, averageSection, r.Network.Placement())
	}
	return err
}

// kept restores the last evaluated network, if the checkpoint has it, and the best one, with Options.KeepBest.
func (st *SavedJob) kept(e *evaluation, place model.Placement) (err error) {
	restore := func(to **kept, shape, tensors string) {
		if st.sections[shape] != nil && err == nil {
			*to = &kept{scope: torch.NewScope()}
			(*to).network, err = st.network((*to).scope, shape, tensors, place)
		}
	}
	restore(&e.kept, keptSection, keptWeights)
	if e.KeepBest {
		restore(&e.best, bestSection, bestWeights)
	}
	if e.best == nil { // a later network must not be compared with one that is not kept
		e.Best = nil
	}
	return err
}

// logits restores a larger network's logits, if the checkpoint has them.
func (st *SavedJob) logits(r *replica) error {
	if st.sections[logitsSection] == nil {
		return nil
	}
	set, err := st.tensors(logitsSection)
	if err != nil {
		return err
	}
	if len(set.Tensors) != 1 {
		return fmt.Errorf("%s: got %d tensors, expected 1", logitsSection, len(set.Tensors))
	}
	r.logits = torch.FromWeights(r.scope, r.Network.Placement().Device, set.Tensors[0])
	return r.scope.Err()
}
