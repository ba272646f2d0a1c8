// Package learning trains structural policies on trees whose sequences are all known, so the objective and its
// gradient are exact. A [Study] trains one policy per seed; after a kill it resumes, and its results are
// bit-identical.
package learning

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"graft/decider"
	"graft/internal/parallel"
	"graft/internal/stat"
	"graft/simulation"
	"graft/torch"
)

// Learner fits a structural policy to trees with the known accuracies of all sequences. Every step uses all trees.
// Create it with NewLearner.
type Learner struct {
	Options
	progress

	trees   []*simulation.Tree
	rewards [][]float64 // rewards of each tree's records
	held    *heldOut    // nil if no trees are held out
	policy  *decider.Structural
	trainer *decider.MemberTrainer
	best    decider.Member // best on the held-out trees; nil before their first evaluation
}

// progress is the state of learning, except the weights.
type progress struct {
	Step     int     `json:"step"`     // steps taken
	Value    float64 `json:"value"`    // value of the aim before the last step
	Top      float64 `json:"top"`      // last value that counted as growth
	Grown    int     `json:"grown"`    // step of that value
	Best     float64 `json:"best"`     // best value on the held-out trees
	BestStep int     `json:"best_at"`  // step of that value
	Why      string  `json:"why"`      // reason why learning ended; empty while it continues
	Version  int     `json:"version"`  // version of this format
	Origin   string  `json:"origin"`   // digest of options and trees
	HeldOut  bool    `json:"held_out"` // trees are held out
}

// heldOut holds trees for early stopping.
type heldOut struct {
	trees   []*simulation.Tree
	rewards [][]float64
	cases   *decider.Batch
}

// NewLearner creates a learner with random weights. The held-out trees determine when learning stops; without held-out
// trees, learning stops when the objective stops growing. The scope owns the new tensors.
func NewLearner(s *torch.Scope, trees, held []*simulation.Tree, o Options) (*Learner, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("learn from trees: %w", err)
	}
	if len(trees) == 0 {
		return nil, errors.New("learn from trees: got no trees; expected at least one")
	}
	l := &Learner{Options: o, trees: trees}
	l.progress = progress{Version: learnerVersion, Origin: origin(trees, held, o), HeldOut: len(held) > 0}
	all := simulation.Situations(trees)
	tokens, rows, err := decider.MeasureScales(all)
	if err != nil {
		return nil, err
	}
	if l.policy, err = decider.NewStructural(o.StructuralShape, tokens, rows.Without(o.Without),
		o.Seed); err != nil {
		return nil, err
	}
	l.policy.Learned, l.policy.Targets = simulation.OfferedKinds(trees), simulation.OfferedTargets(trees)
	l.rewards = o.allRewards(trees)
	cases, err := l.policy.Batch(all)
	if err != nil {
		return nil, err
	}
	if err := l.hold(held); err != nil {
		return nil, err
	}
	rule := torch.OptimizerOptions{Rule: torch.AdamW, LR: o.Rate, WeightDecay: o.WeightDecay, Fused: true}
	l.trainer, err = decider.NewMemberTrainer(s, l.policy, cases, rule)
	return l, err
}

func (l *Learner) hold(held []*simulation.Tree) error {
	if len(held) == 0 {
		return nil
	}
	l.held = &heldOut{trees: held}
	for _, t := range held {
		l.held.rewards = append(l.held.rewards, l.Reward.rewards(t.Table, l.Smooth))
	}
	var err error
	l.held.cases, err = l.policy.Batch(simulation.Situations(held))
	return err
}

// Advance takes one learning step. Advance does nothing once learning has ended.
func (l *Learner) Advance() error {
	if l.Why != "" {
		return nil
	}
	logits, err := l.logits()
	if err != nil {
		return err
	}
	gradient := make([]float64, len(logits))
	l.Value = l.aim(logits, gradient)
	if err := l.diverged("the objective or its gradient", append(gradient, l.Value)); err != nil {
		return err
	}
	if err := l.trainer.Step(gradient); err != nil {
		return err
	}
	l.Step++
	return l.checkEnd()
}

// logits returns the policy's scores of all choices.
func (l *Learner) logits() ([]float64, error) {
	logits, err := l.trainer.Logits()
	if err != nil {
		return nil, err
	}
	return logits, l.diverged("a score of an action", logits)
}

// diverged returns an error if a value is not finite.
func (l *Learner) diverged(what string, values []float64) error {
	k := slices.IndexFunc(values, func(v float64) bool { return !stat.Finite(v) })
	if k < 0 {
		return nil
	}
	return fmt.Errorf("learn from trees: training diverged: after step %d with seed %d, %s is %v; lower learn.lr, "+
		"learn.weight_decay or learn.beta", l.Step, l.Seed, what, values[k])
}

// aim is the mean over the trees, and its gradient.
func (l *Learner) aim(logits, gradient []float64) float64 {
	random := rand.New(rand.NewPCG(l.Seed, uint64(l.Step)))
	value, at := 0.0, 0
	for k, t := range l.trees {
		n := t.ChoiceCount()
		part, slope := logits[at:at+n], gradient[at:at+n]
		if l.Sampled > 0 {
			value += sampled(t, part, l.rewards[k], l.Sampled, random, slope) +
				newFlow(t, part).entropy(l.Entropy, slope)
		} else {
			value += objective{l.Beta, l.Entropy}.value(t, part, l.rewards[k], slope)
		}
		at += n
	}
	for k := range gradient {
		gradient[k] /= float64(len(l.trees))
	}
	return value / float64(len(l.trees))
}

// checkEnd sets Why when learning is over.
func (l *Learner) checkEnd() error {
	if l.Step == 1 || l.Value > l.Top+l.Tolerance {
		l.Top, l.Grown = l.Value, l.Step
	}
	if l.held != nil && l.Step%l.Every == 0 {
		if err := l.evaluateHeldOut(); err != nil {
			return err
		}
	}
	switch {
	case l.held != nil && l.Step-l.BestStep >= l.Every*l.Patience:
		l.Why = fmt.Sprintf("the result on held-out tables was best after step %d", l.BestStep)
	case l.Tolerance > 0 && l.Sampled == 0 && l.Step-l.Grown >= l.Window:
		l.Why = fmt.Sprintf("the objective has not increased by %v since step %d", l.Tolerance, l.Grown)
	case l.Step >= l.Steps:
		l.Why = fmt.Sprintf("all %d steps are complete", l.Steps)
	}
	return nil
}

// evaluateHeldOut keeps the policy if it is the best on the held-out trees so far.
func (l *Learner) evaluateHeldOut() error {
	value, now, err := l.outside()
	if err != nil {
		return err
	}
	if l.best == nil || value > l.Best {
		l.Best, l.BestStep, l.best = value, l.Step, now.Members[0]
	}
	return nil
}

// outside returns the expected reward on the held-out trees, and the current policy.
func (l *Learner) outside() (value float64, now *decider.Structural, err error) {
	if now, err = l.current(); err != nil {
		return 0, nil, err
	}
	weighed, err := now.BatchProbabilities(l.held.cases)
	if err != nil {
		return 0, nil, err
	}
	at := 0
	for k, t := range l.held.trees {
		for r, share := range t.Spread(weighed[at : at+len(t.Nodes)]) {
			value += share * l.held.rewards[k][r] / float64(len(l.held.trees))
		}
		at += len(t.Nodes)
	}
	return value, now, nil
}

// Policy returns the learned policy: the best policy on held-out trees, or the last policy if there are no held-out
// trees.
func (l *Learner) Policy() (*decider.Structural, error) {
	if l.best == nil {
		return l.current()
	}
	p := *l.policy
	p.Members = []decider.Member{l.best}
	return &p, nil
}

func (l *Learner) current() (*decider.Structural, error) {
	p := *l.policy
	values, err := l.trainer.Values()
	if err != nil {
		return nil, err
	}
	p.Members = []decider.Member{values}
	return &p, l.diverged("a weight of the policy", slices.Concat(values...))
}

// Learn trains one policy per seed. The argument most limits the number of policies that learn in parallel. The
// held-out trees determine when learning stops.
func Learn(ctx context.Context, trees, held []*simulation.Tree, o Options, seeds []uint64,
	most int) ([]*decider.Structural, error) {
	study := &Study{Trees: trees, Held: held, Options: o, Seeds: seeds, AtOnce: most}
	learned, err := study.Run(ctx)
	policies := make([]*decider.Structural, len(learned))
	for k := range learned {
		policies[k] = learned[k].Policy
	}
	return policies, err
}

// poolOf returns a pool for a number of seeds, with a thread for each of at most most workers.
func poolOf(threads, places, most int) parallel.Pool {
	workers := min(max(1, most), places)
	var work sync.WaitGroup
	work.Add(workers)
	return parallel.Pool{Workers: workers, Around: func(body func()) { alone(&work, threads, body) }}
}

// alone restricts body to one thread, which is fastest for tensors as small as a policy's. When all workers are done,
// LibTorch gets back its number of threads.
func alone(work *sync.WaitGroup, threads int, body func()) {
	runtime.LockOSThread() // the setting belongs to the thread
	defer runtime.UnlockOSThread()
	_ = torch.SetThreads(1) // if it fails, results are the same with more threads
	body()
	work.Done()
	work.Wait()
	_ = torch.SetThreads(threads)
}
