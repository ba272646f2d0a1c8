package learn

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"graft/internal/parallel"
	"graft/torch/weights"
)

// Learner trains a model in steps, and can be saved between steps. Its steps after Save and Restore are bit-identical
// to uninterrupted steps.
type Learner interface {
	// Advance takes one learning step. After an error the learner must not be used.
	Advance(ctx context.Context) error
	// Steps returns the number of steps taken.
	Steps() int
	// Ended returns the reason why learning ended. The reason is empty while learning continues.
	Ended() string
	// Figures computes the metrics of the current state, and leaves the state unchanged.
	Figures() ([]float64, error)
	// Save returns the complete state. A learner without a state returns nil, and starts from the beginning after a
	// restart.
	Save() (*weights.Set, error)
	// Restore continues from a saved state.
	Restore(set *weights.Set) error
}

// Study trains one learner per seed. Results are bit-identical, regardless of stops, kills and restarts, and of the
// number of learners that run in parallel.
type Study struct {
	Seeds      []uint64
	Pool       parallel.Pool    // pool that runs learners in parallel
	Every      int              // number of steps between two rows of metrics; zero means 10
	Checkpoint time.Duration    // wall-clock time between two checkpoints of a seed; zero means 30 s
	Now        func() time.Time // wall clock for checkpoints; nil saves only when the study stops or ends
	Recorder   Recorder         // recorder of metrics and learners; nil saves nothing
	// With creates the learner of a seed and passes it to learn, which trains it and returns its rows of metrics. With
	// then stores the result, such as the learned policy, and frees the learner.
	With func(seed uint64, learn func(Learner) ([]Row, error)) error
}

// Recorder records the progress of a study. It must be safe for concurrent use.
type Recorder interface {
	// Step is called after each training step of a seed and reports its progress. It blocks training, so keep it fast.
	Step(seed uint64, l Learner)
	// Row adds a row of metrics. A resumed seed reports all its rows again, from the first row on.
	Row(r Row) error
	// Save stores the state of a seed's learner atomically.
	Save(seed uint64, set *weights.Set) error
	// Load returns the last saved state of a seed's learner, or nil if there is none.
	Load(seed uint64) (*weights.Set, error)
}

// Row holds the metrics of a seed at one step.
type Row struct {
	Seed   uint64
	Step   int // number of steps taken before the figures
	Values []float64
}

// ErrStopped reports that a study was stopped and has saved its progress.
var ErrStopped = errors.New("the study was stopped; its progress is saved")

// errUndone marks a seed stopped before completion.
var errUndone = errors.New("stopped")

// Run trains all seeds to the end. If ctx ends, Run saves its progress and returns ErrStopped. Without a recorder, it
// saves nothing and returns the error of ctx. The first error stops all seeds.
func (s *Study) Run(ctx context.Context) error {
	inner, fail := context.WithCancel(ctx)
	defer fail()
	return s.verdict(ctx, s.Pool.Each(inner, len(s.Seeds), func(k int) error {
		err := s.With(s.Seeds[k], func(l Learner) ([]Row, error) { return s.learn(inner, s.Seeds[k], l) })
		if err != nil && !errors.Is(err, errUndone) {
			fail()
		}
		return err
	}))
}

// verdict joins the errors of all seeds.
func (s *Study) verdict(ctx context.Context, faults []error) error {
	undone := false
	faults = slices.DeleteFunc(faults, func(err error) bool {
		stopped := errors.Is(err, errUndone) || errors.Is(err, context.Canceled) ||
			errors.Is(err, context.DeadlineExceeded)
		undone = undone || stopped
		return stopped
	})
	switch err := errors.Join(faults...); {
	case err != nil:
		return err
	case !undone:
		return nil
	case s.Recorder == nil:
		return ctx.Err()
	}
	return ErrStopped
}

// learn takes the remaining steps of a seed, and returns its rows.
func (s *Study) learn(ctx context.Context, seed uint64, l Learner) ([]Row, error) {
	p := &seedLearner{Learner: l, study: s, seed: seed, saved: s.now(), savedAt: -1}
	if err := p.load(); err != nil {
		return nil, fmt.Errorf("seed %d: %w", seed, err)
	}
	for p.Ended() == "" {
		if ctx.Err() != nil {
			return nil, cmp.Or(p.save(), errUndone)
		}
		if err := p.step(ctx); err != nil {
			if ctx.Err() != nil && errors.Is(err, ctx.Err()) { // between two steps, the learner equals its saved state
				err = errUndone
			}
			return nil, err
		}
	}
	return p.rows, p.save()
}

// seedLearner is the learner of a seed with its rows.
type seedLearner struct {
	Learner
	study   *Study
	seed    uint64
	rows    []Row
	saved   time.Time
	savedAt int // step of the last save; negative before the first
}

func (s *Study) now() time.Time {
	if s.Now == nil {
		return time.Time{}
	}
	return s.Now()
}

// load continues from the saved state of the learner.
func (p *seedLearner) load() error {
	if p.study.Recorder == nil {
		return nil
	}
	set, err := p.study.Recorder.Load(p.seed)
	if err != nil || set == nil {
		return err
	}
	if err := p.Restore(set); err != nil {
		return err
	}
	if p.rows, err = rowsOf(set, p.seed); err != nil {
		return err
	}
	p.savedAt = p.Steps()
	for _, r := range p.rows {
		if err := p.study.Recorder.Row(r); err != nil {
			return err
		}
	}
	p.study.Recorder.Step(p.seed, p.Learner)
	return nil
}

// step takes one step, then reports and saves what is due.
func (p *seedLearner) step(ctx context.Context) error {
	if err := p.Advance(ctx); err != nil {
		return fmt.Errorf("seed %d, step %d: %w", p.seed, p.Steps()+1, err)
	}
	if p.study.Recorder == nil {
		return nil
	}
	if p.Steps()%cmp.Or(p.study.Every, 10) == 0 || p.Ended() != "" {
		values, err := p.Figures()
		if err != nil {
			return err
		}
		row := Row{p.seed, p.Steps(), values}
		p.rows = append(p.rows, row)
		if err := p.study.Recorder.Row(row); err != nil {
			return err
		}
	}
	p.study.Recorder.Step(p.seed, p.Learner)
	if p.study.now().Sub(p.saved) < cmp.Or(p.study.Checkpoint, 30*time.Second) {
		return nil
	}
	return p.save()
}

// save saves the learner, unless it was saved after this step.
func (p *seedLearner) save() error {
	if p.study.Recorder == nil || p.savedAt == p.Steps() {
		return nil
	}
	set, err := p.Save()
	if err != nil || set == nil {
		return err
	}
	set.Tensors = append(set.Tensors, rowsTensor(p.rows))
	if err := p.study.Recorder.Save(p.seed, set); err != nil {
		return fmt.Errorf("save the state of seed %d: %w", p.seed, err)
	}
	p.saved, p.savedAt = p.study.now(), p.Steps()
	return nil
}

// rowsName is the tensor of a saved learner's rows: a step, then its values.
const rowsName = "study.rows"

func rowsTensor(rows []Row) weights.Tensor {
	t := weights.Tensor{Name: rowsName, DType: weights.Float64, Shape: []int64{int64(len(rows)), 1}}
	for _, r := range rows {
		t.Shape[1] = int64(1 + len(r.Values))
		for _, v := range append([]float64{float64(r.Step)}, r.Values...) {
			t.Data = binary.LittleEndian.AppendUint64(t.Data, math.Float64bits(v))
		}
	}
	return t
}

// rowsOf returns the rows that were saved with a seed's learner.
func rowsOf(set *weights.Set, seed uint64) (rows []Row, err error) {
	t, ok := set.Find(rowsName)
	if !ok || len(t.Shape) != 2 || t.Shape[1] < 1 {
		return nil, fmt.Errorf("resume learning: the file has no two-dimensional tensor %s; start over", rowsName)
	}
	values, err := t.Float64s()
	for v := range slices.Chunk(values, int(t.Shape[1])) {
		rows = append(rows, Row{seed, int(v[0]), v[1:]})
	}
	return rows, err
}
