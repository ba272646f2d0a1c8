package learn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"graft/internal/files"
	"graft/internal/parallel"
	"graft/learn"
	"graft/results"
	"graft/torch/weights"
)

// RackLearner learns to schedule a [Rack] by PPO. A step is a rollout and its update.
type RackLearner struct {
	model   *learn.MLP
	rollout *learn.Rollout
	shuffle *rand.PCG
	steps   int
	figures learn.PPOFigures
}

// NewRackLearner returns a learner whose random numbers depend only on the seed.
func NewRackLearner(seed uint64) (*RackLearner, error) {
	model, err := learn.NewMLP(learn.MLPOptions{Inputs: 3, Actions: 3, Hidden: []int{16}, Rate: 3e-3},
		rand.New(rand.NewPCG(seed, 0)))
	if err != nil {
		return nil, err
	}
	return &RackLearner{model: model, rollout: learn.NewRollout(&Rack{}, model.Twin(), seed, 1),
		shuffle: rand.NewPCG(seed, 1)}, nil
}

// Advance runs one step.
func (l *RackLearner) Advance(ctx context.Context) error {
	steps, err := learn.PlayAll(ctx, []*learn.Rollout{l.rollout}, 256, 1)
	if err != nil {
		return err
	}
	l.figures, err = learn.UpdatePPO(l.model, steps, learn.PPOOptions{}, rand.New(l.shuffle))
	l.steps++
	return err
}

// Steps returns the number of steps taken.
func (l *RackLearner) Steps() int { return l.steps }

// Ended returns why learning ended.
func (l *RackLearner) Ended() string {
	if l.steps < 10 {
		return ""
	}
	return "all steps are done"
}

// Figures returns the values of a row, in the order of the folder's columns.
func (l *RackLearner) Figures() ([]float64, error) {
	return []float64{l.figures.Entropy, l.figures.ValueLoss}, nil
}

// rackState is the learner's state, except tensors.
type rackState struct {
	Steps   int
	Shuffle []byte
	Rollout learn.RolloutState
}

// Save returns everything that later steps depend on: weights, optimizer moments, random streams, and the current
// episode.
func (l *RackLearner) Save() (*weights.Set, error) {
	shuffle, err := l.shuffle.MarshalBinary()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(rackState{l.steps, shuffle, l.rollout.State()})
	set := &weights.Set{Metadata: map[string]string{"rack": string(text)}}
	learn.SaveModel(l.model, set, "model.")
	return set, err
}

// Restore continues from a saved state.
func (l *RackLearner) Restore(set *weights.Set) error {
	var was rackState
	if err := json.Unmarshal([]byte(set.Metadata["rack"]), &was); err != nil {
		return fmt.Errorf("resume learning: the file's header is damaged: %w", err)
	}
	l.steps = was.Steps
	return errors.Join(l.shuffle.UnmarshalBinary(was.Shuffle), l.rollout.Restore(was.Rollout),
		learn.RestoreModel(l.model, set, "model."))
}

// stopper stops a study after a step, as Ctrl-C does.
type stopper struct {
	*learn.Folder
	after int
	stop  func()
}

// Step stops the study if the learner has taken enough steps.
func (s stopper) Step(_ uint64, l learn.Learner) {
	if l.Steps() == s.after {
		s.stop()
	}
}

// study trains two seeds in a run folder, which it creates or resumes. It stops after stopAfter steps; zero never
// stops.
func study(folder string, stopAfter int) error {
	run, err := results.Open(files.OS{}, folder)
	if errors.Is(err, results.ErrNoRun) {
		run, err = results.Create(files.OS{}, folder, results.CreateOptions{}, results.Manifest{})
	}
	if err != nil {
		return err
	}
	defer run.Close()
	record, err := learn.OpenFolder(files.OS{}, run, []results.Column{{Name: "entropy"}, {Name: "value_loss"}})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	s := learn.Study{Seeds: []uint64{1, 2}, Every: 1, Pool: parallel.Pool{Workers: 2},
		Recorder: stopper{record, stopAfter, stop}}
	s.With = func(seed uint64, advance func(learn.Learner) ([]learn.Row, error)) error {
		l, err := NewRackLearner(seed)
		if err != nil {
			return err
		}
		_, err = advance(l)
		return err
	}
	return s.Run(ctx)
}

func Example_learner() {
	dir, err := os.MkdirTemp("", "learner")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	whole, stopped := filepath.Join(dir, "whole"), filepath.Join(dir, "stopped")
	fmt.Println("whole:", study(whole, 0))
	fmt.Println("stopped:", study(stopped, 4))
	fmt.Println("resumed:", study(stopped, 0))
	for _, name := range []string{"learners/seed-1.safetensors", "learners/seed-2.safetensors"} {
		want, err := os.ReadFile(filepath.Join(whole, name))
		got, err2 := os.ReadFile(filepath.Join(stopped, name))
		fmt.Println(name, "has the same bits:", err == nil && err2 == nil && string(want) == string(got))
	}
	// Output:
	// whole: <nil>
	// stopped: the study was stopped; its progress is saved
	// resumed: <nil>
	// learners/seed-1.safetensors has the same bits: true
	// learners/seed-2.safetensors has the same bits: true
}
