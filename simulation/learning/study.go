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
var ErrStopped = learn.ErrStopped

// Recorder records a study. Several goroutines call it.
type Recorder interface {
	// Step tells where a seed stands after a step. All that learns waits for it.
	Step(p Progress)
	// Row adds figures. Those of a seed that goes on are told again, from its first.
	Row(r Row) error
	// Save keeps a seed's learner, whole or not at all.
	Save(seed uint64, set *weights.Set) error
	// Load returns the learner of a seed as it was last saved; nil where it was not.
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

// Run learns to the end of all seeds. Where ctx ends it saves what it has and returns
// ErrStopped or, without a recorder, what ctx says. The first fault stops all seeds.
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

// learn makes the learner of a seed, lets it learn, and takes its policy.
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

// typed is a recorder of trees as one of any learners.
type typed struct{ Recorder }

// Step implements [learn.Recorder].
func (t typed) Step(_ uint64, l learn.Learner) { t.Recorder.Step(l.(treeLearner).standing()) }

// Row implements [learn.Recorder].
func (t typed) Row(r learn.Row) error { return t.Recorder.Row(rowOf(r)) }

func (r Row) values() []float64 { return []float64{r.Aim, r.Entropy, r.HeldOut, r.Regret} }

func rowOf(r learn.Row) Row {
	return Row{r.Seed, r.Step, r.Values[0], r.Values[1], r.Values[2], r.Values[3]}
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
