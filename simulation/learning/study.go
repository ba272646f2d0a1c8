package learning

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"graft/decider"
	"graft/learn"
	"graft/simulation"
	"graft/torch"
	"graft/torch/weights"
)

// Study trains one policy per seed on the same trees. Policies are bit-identical, regardless of stops, kills and
// restarts, and of the number of policies that learn in parallel.
type Study struct {
	Trees      []*simulation.Tree // training trees
	Held       []*simulation.Tree // held-out trees for early stopping; nil stops when the objective stops growing
	Options    Options            // options for all policies; their seed is ignored
	Seeds      []uint64           // seeds of the policies, one policy per seed
	AtOnce     int                // number of policies that learn in parallel; zero means 1
	Every      int                // number of steps between two rows of metrics; zero means 10
	Checkpoint time.Duration      // wall-clock time between two checkpoints of a seed; zero means 30 s
	// wall clock for checkpoints; if nil, progress is saved only when the study stops or ends
	Now      func() time.Time
	Recorder Recorder // recorder of metrics and learners; if nil, nothing is saved
}

// ErrStopped reports that a study was stopped and has saved its progress.
var ErrStopped = learn.ErrStopped

// Recorder records the progress of a study. It must be safe for concurrent use.
type Recorder interface {
	// Step receives the progress of a seed after each of its training steps. It blocks training, so keep it fast.
	Step(p Progress)
	// Row adds a row of metrics. A resumed seed reports its rows again, from the first row on.
	Row(r Row) error
	// Save stores the state of a seed's learner atomically.
	Save(seed uint64, set *weights.Set) error
	// Load returns the last saved state of a seed's learner, or nil if there is none.
	Load(seed uint64) (*weights.Set, error)
}

// Progress is the training progress of one seed.
type Progress struct {
	Seed uint64
	Step int     // number of the last step
	Aim  float64 // value of the objective before the step
	// maximum of the expected reward on held-out tables so far; NaN before the first evaluation
	HeldOut float64
	Why     string // reason why learning ended; empty while it continues
}

// Row holds the metrics of a seed's policy at one step.
type Row struct {
	Seed uint64
	Step int     // number of steps before the measurement
	Aim  float64 // value of the objective, in rewards
	// entropy of the policy's decisions in nats, averaged over all decisions of all tables
	Entropy float64
	HeldOut float64 // expected reward on held-out tables; NaN without held-out tables
	Regret  float64 // regret of the policy's most likely sequences in points, averaged over the tables
}

// add adds one tree's part of the figures.
func (r *Row) add(t *simulation.Tree, logits []float64, of int) {
	f := newFlow(t, logits)
	r.Entropy += f.nats() / float64(of)
	r.Regret += f.regret() / float64(of)
}

// Result is the outcome of one seed.
type Result struct {
	Seed   uint64
	Policy *decider.Structural
	Steps  int    // number of steps taken
	Why    string // reason why learning ended
	Rows   []Row  // rows in the order of steps
}

// Run trains all seeds to the end. If ctx ends, it saves its progress and returns ErrStopped or, without a recorder,
// saves nothing and returns the error of ctx. The first error stops all seeds.
func (s *Study) Run(ctx context.Context) ([]Result, error) {
	had, err := torch.Describe()
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	all := make([]Result, len(s.Seeds))
	shared := &learn.Study{Seeds: s.Seeds, Pool: poolOf(had.Threads, len(s.Seeds), s.AtOnce), Every: s.Every,
		Checkpoint: s.Checkpoint, Now: s.Now}
	if s.Recorder != nil {
		shared.Recorder = typed{s.Recorder}
	}
	shared.With = func(seed uint64, learn func(learn.Learner) ([]learn.Row, error)) error {
		return torch.With(func(scope *torch.Scope) error {
			r, err := s.learn(scope, seed, learn)
			mu.Lock()
			defer mu.Unlock()
			all[slices.Index(s.Seeds, seed)] = r
			return err
		})
	}
	if err := shared.Run(ctx); err != nil {
		return nil, fmt.Errorf("learn from trees: %w", err)
	}
	return all, nil
}

// learn makes the learner of a seed, trains it, and returns its policy.
func (s *Study) learn(scope *torch.Scope, seed uint64,
	learn func(learn.Learner) ([]learn.Row, error)) (r Result, err error) {
	o := s.Options
	o.Seed = seed
	o.EnsureDefaults()
	var l treeLearner = &forestLearner{trees: s.Trees, o: o}
	if o.Method != Forest {
		l, err = newNetworkLearner(scope, s.Trees, s.Held, o)
	}
	if err != nil {
		return r, err
	}
	rows, err := learn(l)
	if err != nil {
		return r, err
	}
	r = Result{Seed: seed, Steps: l.Steps(), Why: l.Ended()}
	for _, row := range rows {
		r.Rows = append(r.Rows, rowOf(row))
	}
	if r.Policy, err = l.Policy(); err == nil {
		r.Policy.Notes = map[string]string{"seed": fmt.Sprint(seed), "steps": fmt.Sprint(r.Steps), "ended": r.Why}
	}
	return r, err
}

// treeLearner is a learner of a [Study].
type treeLearner interface {
	learn.Learner
	standing() Progress
	Policy() (*decider.Structural, error)
}

// networkLearner is a [Learner] of a study.
type networkLearner struct{ *Learner }

func newNetworkLearner(scope *torch.Scope, trees, held []*simulation.Tree, o Options) (networkLearner, error) {
	l, err := NewLearner(scope, trees, held, o)
	return networkLearner{l}, err
}

// Advance implements [learn.Learner].
func (l networkLearner) Advance(context.Context) error { return l.Learner.Advance() }

// Steps implements [learn.Learner].
func (l networkLearner) Steps() int { return l.Step }

// Ended implements [learn.Learner].
func (l networkLearner) Ended() string { return l.Why }

// Save implements [learn.Learner].
func (l networkLearner) Save() (*weights.Set, error) { return l.Set() }

// Figures implements [learn.Learner].
func (l networkLearner) Figures() ([]float64, error) {
	r, err := l.Learner.Figures()
	return r.values(), err
}

func (l networkLearner) standing() Progress {
	outside := math.NaN()
	if l.BestStep > 0 {
		outside = l.Best
	}
	return Progress{Seed: l.Seed, Step: l.Step, Aim: l.Value, HeldOut: outside, Why: l.Why}
}

// typed adapts a recorder of trees to the recorder of any learner.
type typed struct{ Recorder }

// Step implements [learn.Recorder].
func (t typed) Step(_ uint64, l learn.Learner) { t.Recorder.Step(l.(treeLearner).standing()) }

// Row implements [learn.Recorder].
func (t typed) Row(r learn.Row) error { return t.Recorder.Row(rowOf(r)) }

func (r Row) values() []float64 { return []float64{r.Aim, r.Entropy, r.HeldOut, r.Regret} }

func rowOf(r learn.Row) Row {
	return Row{r.Seed, r.Step, r.Values[0], r.Values[1], r.Values[2], r.Values[3]}
}

// Figures computes the metrics of the current policy without changing the learner.
func (l *Learner) Figures() (Row, error) {
	r := Row{Seed: l.Seed, Step: l.Step, HeldOut: math.NaN()}
	logits, err := l.logits()
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
