package learn

import (
	"errors"
	"fmt"

	"graft/decider"
	"graft/torch"
)

// Learner trains a policy on the sequences of a table, which are stored as a [Tree]. A scope owns the learner's
// tensors.
type Learner struct {
	Options
	Tree *Tree

	sizes     PolicyOptions
	embedding Embedding
	policy    *torch.Policy
	random    *torch.Generator
	at        torch.PolicyProgress
}

// EpisodeResults holds the results of episodes, one value per episode.
type EpisodeResults struct {
	// Ends holds the number of the leaf that each episode reached in the tree. Nil for the rule "exact", which plays no
	// episodes.
	Ends []int32
	// Objectives holds the loss of each episode: the mean, over its decisions, of minus the log probability times the
	// reward. For the rule "exact", Objectives holds the expected reward before each step; training maximizes this
	// reward.
	Objectives []float64
}

// NewLearner creates an untrained policy, whose parameters are drawn from a seed as in PyTorch. The policy's actions
// are drawn from the same stream of random numbers as its parameters.
func NewLearner(s *torch.Scope, t *Tree, e Embedding, p PolicyOptions, o Options, seed int64) (*Learner, error) {
	l, err := newLearner(s, t, e, p, o, seed)
	if err == nil {
		err = l.draw(s)
	}
	if err != nil {
		return nil, fmt.Errorf("create a policy: %w", err)
	}
	return l, nil
}

func newLearner(s *torch.Scope, t *Tree, e Embedding, p PolicyOptions, o Options, seed int64) (*Learner, error) {
	p.EnsureDefaults()
	o.EnsureDefaults()
	if err := errors.Join(p.Validate(), o.Validate()); err != nil {
		return nil, err
	}
	states, err := t.policyTree(o.Reward, p.Time)
	if err != nil {
		return nil, err
	}
	l := &Learner{Options: o, Tree: t, sizes: p, embedding: e, random: s.NewGenerator(torch.CPU, seed),
		at: torch.PolicyProgress{LR: o.LR, Temperature: o.Temperature}}
	shape := torch.PolicyShape{Tokens: e.Rows(), Embedding: e.Width, Hidden: p.Hidden, Memory: p.Memory,
		Linear: p.Linear, Time: p.Time, Actions: t.Actions, Precise: p.Precise}
	values := make([]float64, len(e.Values))
	for k, v := range e.Values {
		values[k] = float64(v)
	}
	if l.policy, err = s.NewPolicy(shape, values); err != nil {
		return nil, err
	}
	return l, l.policy.Grow(states)
}

// Episodes returns the number of episodes that the policy has learned from.
func (l *Learner) Episodes() int { return int(l.at.Episodes) }

// Rate returns Adam's learning rate for the next step.
func (l *Learner) Rate() float64 { return l.at.LR }

// Heat returns the temperature for the next episode.
func (l *Learner) Heat() float64 { return l.at.Temperature }

// Done reports whether all episodes have been played.
func (l *Learner) Done() bool { return l.Episodes() >= l.Options.Episodes }

// Learn trains the policy on the given number of further episodes, or on all remaining episodes if fewer remain. Except
// for the rule "exact", the number must be a multiple of the batch size.
func (l *Learner) Learn(episodes int) (EpisodeResults, error) {
	episodes = min(episodes, l.Options.Episodes-l.Episodes())
	if l.Rule == Exact {
		rewards, err := l.policy.Ascend(episodes, l.rule(), &l.at)
		return EpisodeResults{Objectives: rewards}, err
	}
	e, err := l.policy.Learn(episodes, l.random, l.rule(), &l.at)
	return EpisodeResults{Ends: e.Ends, Objectives: e.Objectives}, err
}

// Expectation holds the expected result of a policy.
type Expectation struct {
	Reward   float64   // expected reward of an episode
	Accuracy float64   // expected accuracy at the end of an episode
	Ends     []float64 // probability of each end of the tree
	Greedy   int       // index of the end reached by the most likely actions
}

// Expect computes the expected result of the policy, with temperature 1. It does not change the learner.
func (l *Learner) Expect() (Expectation, error) {
	var o Expectation
	var err error
	if o.Reward, o.Ends, err = l.policy.Expect(1, 0); err != nil {
		return o, err
	}
	for k, p := range o.Ends {
		o.Accuracy += p * l.Tree.Accuracy[k]
	}
	rows, err := l.Probabilities(1)
	if err != nil {
		return o, err
	}
	for state := int32(0); state >= 0; o.Greedy = int(-1 - state) {
		state = l.Tree.States[state].Children[decider.Likeliest(rows[state])]
	}
	return o, nil
}

// Probabilities returns the probability of each action in each state of the tree at a temperature.
func (l *Learner) Probabilities(temperature float64) ([][]float64, error) {
	all := make([]int32, len(l.Tree.States))
	for k := range all {
		all[k] = int32(k)
	}
	return l.policy.Probabilities(all, temperature)
}
