package learning

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"graft/decider"
	"graft/simulation"
	"graft/torch"
	"graft/torch/weights"
)

// Study lets a policy learn for each of several seeds, all from the same trees.
// Each comes out with the same bits, however often the study is stopped or killed and
// begun again, and however many learn at once.
type Study struct {
	Trees      []*simulation.Tree // that are learned from
	Held       []*simulation.Tree // as in NewLearner
	Options    Options            // of all; their seed does not count
	Seeds      []uint64           // a policy for each
	AtOnce     int                // how many learn at once; zero means 1
	Every      int                // steps between rows of figures; zero means 10
	Checkpoint time.Duration      // of the machine's time between two of a seed; zero means 30 s
	Now        func() time.Time   // when checkpoints are due; nil saves at stops and in the end only
	Recorder   Recorder           // where figures and learners go; nil is nowhere, and nothing is saved
}

// ErrStopped says that a study was asked to stop and has saved all that it did.
var ErrStopped = errors.New("the study was stopped, and its progress is saved")

// Recorder records a study. Several goroutines call it.
type Recorder interface {
	// Step tells where a seed stands after a step. All that learns waits for it.
	Step(p Progress)
	// Row adds figures. Those of a seed that goes on are told again, from its first.
	Row(r Row) error
	// Save keeps a seed's learner, whole or not at all.
	Save(seed uint64, set *weights.Set) error
	// Load is what was last kept of a seed; nil where nothing was.
	Load(seed uint64) (*weights.Set, error)
}

// Progress is the state of a seed's learning.
type Progress struct {
	Seed    uint64
	Step    int     // that was taken last
	Aim     float64 // before it
	HeldOut float64 // the most expected reward so far in tables that are held out; NaN before the first look
	Why     string  // learning ended; empty while it goes on
}

// Row holds figures of the policy of a seed.
type Row struct {
	Seed    uint64
	Step    int     // after which they are
	Aim     float64 // that learning makes large, in rewards
	Entropy float64 // of its decisions, in nats: the mean over all in all tables
	HeldOut float64 // expected reward in tables that are held out; NaN where none are
	Regret  float64 // of its likeliest sequences in points, the mean over the tables
}

// add adds the share of one tree of several to the figures.
func (r *Row) add(t *simulation.Tree, logits []float64, of int) {
	f := newFlow(t, logits)
	r.Entropy += f.nats() / float64(of)
	r.Regret += f.regret() / float64(of)
}

// Result is the outcome of one seed.
type Result struct {
	Seed   uint64
	Policy *decider.Structural
	Steps  int    // that were taken
	Why    string // learning ended
	Rows   []Row  // in the order of steps
}

// errUndone is of a seed that was stopped.
var errUndone = errors.New("stopped")

// Run learns to the end of all seeds. Where ctx ends it saves what it has and returns
// ErrStopped or, without a recorder, what ctx says. The first fault stops all seeds.
func (s *Study) Run(ctx context.Context) ([]Result, error) {
	inner, fail := context.WithCancel(ctx)
	defer fail()
	all := make([]Result, len(s.Seeds))
	faults, err := atOnce(inner, len(s.Seeds), s.AtOnce, func(k int) error {
		err := torch.With(func(scope *torch.Scope) (err error) {
			all[k], err = s.learn(inner, scope, s.Seeds[k])
			return err
		})
		if err != nil && !errors.Is(err, errUndone) {
			fail()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, s.verdict(ctx, faults)
}

// verdict joins the errors of all seeds.
func (s *Study) verdict(ctx context.Context, faults []error) error {
	undone := false
	faults = slices.DeleteFunc(faults, func(err error) bool {
		stopped := errors.Is(err, errUndone) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
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

// learn goes through the steps of a seed, those that are left where it was saved.
func (s *Study) learn(ctx context.Context, scope *torch.Scope, seed uint64) (Result, error) {
	if s.Options.Method == Forest {
		return s.forest(ctx, seed)
	}
	p, err := s.learner(scope, seed)
	if err != nil {
		return Result{}, err
	}
	for p.Why == "" {
		if ctx.Err() != nil {
			return Result{}, cmp.Or(p.save(), errUndone)
		}
		if err := p.step(); err != nil {
			return Result{}, fmt.Errorf("learn from trees, seed %d, step %d: %w", seed, p.Step, err)
		}
	}
	if err := p.save(); err != nil {
		return Result{}, err
	}
	policy, err := p.Policy()
	if err != nil {
		return Result{}, err
	}
	policy.Notes = map[string]string{"seed": fmt.Sprint(seed), "steps": fmt.Sprint(p.Step), "ended": p.Why}
	return Result{Seed: seed, Policy: policy, Steps: p.Step, Why: p.Why, Rows: p.rows}, nil
}

type seedLearner struct {
	*Learner
	study   *Study
	rows    []Row
	saved   time.Time
	savedAt int // step; less than zero before the first time
}

// learner makes a seed's learner anew or, where it was saved, as it was.
func (s *Study) learner(scope *torch.Scope, seed uint64) (*seedLearner, error) {
	o := s.Options
	o.Seed = seed
	l, err := NewLearner(scope, s.Trees, s.Held, o)
	if err != nil {
		return nil, err
	}
	p := &seedLearner{Learner: l, study: s, saved: s.now(), savedAt: -1}
	if s.Recorder == nil {
		return p, nil
	}
	set, err := s.Recorder.Load(seed)
	if err != nil || set == nil {
		return p, err
	}
	if err := l.Restore(set); err != nil {
		return nil, fmt.Errorf("seed %d: %w", seed, err)
	}
	if p.rows, err = rowsOf(set, seed); err != nil {
		return nil, fmt.Errorf("seed %d: go on learning: %w", seed, err)
	}
	p.savedAt = p.Step
	for _, r := range p.rows {
		if err := s.Recorder.Row(r); err != nil {
			return nil, err
		}
	}
	s.Recorder.Step(p.standing())
	return p, nil
}

func (s *Study) now() time.Time {
	if s.Now == nil {
		return time.Time{}
	}
	return s.Now()
}

func (p *seedLearner) standing() Progress {
	outside := math.NaN()
	if p.BestStep > 0 {
		outside = p.Best
	}
	return Progress{Seed: p.Seed, Step: p.Step, Aim: p.Value, HeldOut: outside, Why: p.Why}
}

// step takes one, and tells and saves what is due.
func (p *seedLearner) step() error {
	if err := p.Advance(); err != nil || p.study.Recorder == nil {
		return err
	}
	if p.Step%cmp.Or(p.study.Every, 10) == 0 || p.Why != "" {
		row, err := p.Figures()
		if err != nil {
			return err
		}
		p.rows = append(p.rows, row)
		if err := p.study.Recorder.Row(row); err != nil {
			return err
		}
	}
	p.study.Recorder.Step(p.standing())
	if p.study.now().Sub(p.saved) < cmp.Or(p.study.Checkpoint, 30*time.Second) {
		return nil
	}
	return p.save()
}

// save keeps the learner, unless it was kept after this step.
func (p *seedLearner) save() error {
	if p.study.Recorder == nil || p.savedAt == p.Step {
		return nil
	}
	set, err := p.Set()
	if err != nil {
		return err
	}
	set.Tensors = append(set.Tensors, rowsTensor(p.rows))
	if err := p.study.Recorder.Save(p.Seed, set); err != nil {
		return fmt.Errorf("save what seed %d learned: %w", p.Seed, err)
	}
	p.saved, p.savedAt = p.study.now(), p.Step
	return nil
}

// Figures computes the figures of the current policy. It changes nothing.
func (l *Learner) Figures() (Row, error) {
	r := Row{Seed: l.Seed, Step: l.Step, HeldOut: math.NaN()}
	logits, err := l.trainer.Logits()
	if err != nil {
		return r, err
	}
	r.Aim = l.aim(logits, make([]float64, len(logits)))
	at := 0
	for _, t := range l.trees {
		r.add(t, logits[at:at+t.ChoiceCount()], len(l.trees))
		at += t.ChoiceCount()
	}
	if l.held != nil {
		r.HeldOut, _, err = l.outside()
	}
	return r, err
}

// regret returns the regret of the likeliest choices, in points.
func (f *flow) regret() float64 {
	values := simulation.MeanAccuracies(f.tree.Table)
	end := f.tree.Follow(func(at int) int { return slices.Index(f.of(at), slices.Max(f.of(at))) })
	return simulation.Points * (slices.Max(values) - values[end])
}

// The rows of a learner that was saved are a tensor of float64.
const (
	rowsName  = "study.rows"
	rowValues = 5
)

func rowsTensor(rows []Row) weights.Tensor {
	t := weights.Tensor{Name: rowsName, DType: weights.Float64, Shape: []int64{int64(len(rows)), rowValues}}
	for _, r := range rows {
		for _, v := range []float64{float64(r.Step), r.Aim, r.Entropy, r.HeldOut, r.Regret} {
			t.Data = binary.LittleEndian.AppendUint64(t.Data, math.Float64bits(v))
		}
	}
	return t
}

// rowsOf are the rows that were saved with a seed's learner.
func rowsOf(set *weights.Set, seed uint64) (rows []Row, err error) {
	t, ok := set.Find(rowsName)
	if !ok || len(t.Shape) != 2 || t.Shape[1] != rowValues {
		return nil, fmt.Errorf("the file has no %s of %d columns; begin anew", rowsName, rowValues)
	}
	values, err := t.Float64s()
	for v := range slices.Chunk(values, rowValues) {
		rows = append(rows, Row{seed, int(v[0]), v[1], v[2], v[3], v[4]})
	}
	return rows, err
}
