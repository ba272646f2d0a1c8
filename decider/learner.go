package decider

import (
	"errors"
	"fmt"
	"math"

	"graft/torch"
)

// Learner trains a policy on a tree. A scope owns it.
type Learner struct {
	LearnOptions
	Tree *Tree

	sizes     PolicyOptions
	embedding Embedding
	policy    *torch.Policy
	random    *torch.Generator
	at        torch.PolicyProgress
}

// Lesson is the result of some episodes, one value for each.
type Lesson struct {
	// Ends are the ends of the episodes; nil with the rule exact, which plays none.
	Ends []int32
	// Objectives are the losses: the mean over the decisions of minus the log probability
	// times the reward. With the rule exact they are the expected rewards before each
	// step.
	Objectives []float64
}

// NewLearner makes an untrained policy, drawn from a seed as PyTorch draws one; its actions are
// drawn from the same stream afterwards.
func NewLearner(s *torch.Scope, t *Tree, e Embedding, p PolicyOptions, o LearnOptions, seed int64) (*Learner, error) {
	l, err := newLearner(s, t, e, p, o, seed)
	if err == nil {
		err = l.draw(s)
	}
	if err != nil {
		return nil, fmt.Errorf("make a policy that learns: %w", err)
	}
	return l, nil
}

func newLearner(s *torch.Scope, t *Tree, e Embedding, p PolicyOptions, o LearnOptions, seed int64) (*Learner, error) {
	p.EnsureDefaults()
	o.EnsureDefaults()
	if err := errors.Join(p.Validate(), o.Validate()); err != nil {
		return nil, err
	}
	states, err := t.policyTree(o.Reward, p.Time)
	if err != nil {
		return nil, err
	}
	l := &Learner{LearnOptions: o, Tree: t, sizes: p, embedding: e, random: s.NewGenerator(torch.CPU, seed),
		at: torch.PolicyProgress{LR: o.LR, Temperature: o.Temperature}}
	shape := torch.PolicyShape{Tokens: e.Rows(), Embedding: e.Width, Hidden: p.Hidden, Memory: p.Memory, Linear: p.Linear, Time: p.Time,
		Actions: t.Actions, Precise: p.Precise}
	values := make([]float64, len(e.Values))
	for k, v := range e.Values {
		values[k] = float64(v)
	}
	if l.policy, err = s.NewPolicy(shape, values); err != nil {
		return nil, err
	}
	return l, l.policy.Grow(states)
}

// Episodes is the number of episodes learned from.
func (l *Learner) Episodes() int { return int(l.at.Episodes) }

// Rate is the learning rate of the next step.
func (l *Learner) Rate() float64 { return l.at.LR }

// Heat is the temperature of the next episode.
func (l *Learner) Heat() float64 { return l.at.Temperature }

// Done reports whether all episodes were learned from.
func (l *Learner) Done() bool { return l.Episodes() >= l.LearnOptions.Episodes }

// Learn learns from a number of further episodes, in whole batches, or from the remaining ones.
func (l *Learner) Learn(episodes int) (Lesson, error) {
	episodes = min(episodes, l.LearnOptions.Episodes-l.Episodes())
	if l.Rule == LearnExact {
		rewards, err := l.policy.Ascend(episodes, l.rule(), &l.at)
		return Lesson{Objectives: rewards}, err
	}
	e, err := l.policy.Learn(episodes, l.random, l.rule(), &l.at)
	return Lesson{Ends: e.Ends, Objectives: e.Objectives}, err
}

// Outlook is the expectation of a policy.
type Outlook struct {
	Reward   float64   // expected
	Accuracy float64   // expected
	Ends     []float64 // probability of each
	Greedy   int       // end of the greedy policy
}

// Expect computes the policy's expectation without a temperature. It does not change the policy.
func (l *Learner) Expect() (Outlook, error) {
	var o Outlook
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
		state = l.Tree.States[state].Children[likeliest(rows[state])]
	}
	return o, nil
}

// likeliest is the index of the first of the largest values.
func likeliest(values []float64) int {
	best := 0
	for k, v := range values {
		if v > values[best] {
			best = k
		}
	}
	return best
}

// Probabilities returns those of the actions in all states of the tree, at a temperature.
func (l *Learner) Probabilities(temperature float64) ([][]float64, error) {
	all := make([]int32, len(l.Tree.States))
	for k := range all {
		all[k] = int32(k)
	}
	return l.policy.Probabilities(all, temperature)
}

// Force learns from one sequence of actions as if it had been sampled, and returns the
// objective.
func (l *Learner) Force(actions []int) (float64, error) {
	var states []int32
	var coefficients [][]float64
	state := int32(0)
	for _, a := range actions {
		if state < 0 || a < 0 || a >= l.Tree.Actions {
			return 0, fmt.Errorf("force a policy to %v: the tree has no such sequence", actions)
		}
		states, coefficients = append(states, state), append(coefficients, make([]float64, l.Tree.Actions))
		state = l.Tree.States[state].Children[a]
	}
	if state >= 0 {
		return 0, fmt.Errorf("force a policy to %v: the sequence has no end", actions)
	}
	return l.force(actions, states, coefficients, l.Tree.rewards(l.Reward)[-1-state])
}

func (l *Learner) force(actions []int, states []int32, coefficients [][]float64, reward float64) (float64, error) {
	rows, err := l.policy.Probabilities(states, l.at.Temperature)
	if err != nil {
		return 0, err
	}
	objective, share := 0.0, 1/float64(len(actions))
	for k, a := range actions {
		coefficients[k][a] = -reward * share
		objective -= share * reward * math.Log(rows[k][a])
	}
	if err := l.policy.Gradient(states, coefficients, l.at.Temperature); err != nil {
		return 0, err
	}
	return objective, l.policy.Step(l.rule(), &l.at)
}
