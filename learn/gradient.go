package learn

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// GradientOptions configure one policy gradient on a rollout. Lambda one and no critic are REINFORCE
// (Williams, Machine Learning 8, 1992); with a critic it is an advantage actor-critic (Mnih et al., ICML
// 2016).
type GradientOptions struct {
	Discounts         // of what comes later; zero is their defaults
	Critic    bool    // subtracts the values of states, which learn too; false subtracts the mean return
	ValueLoss float64 // weight of half the mean square error of values; zero means 1
	Entropy   float64 // weight of the entropy; zero gives none
	MaxNorm   float64 // bound of the gradient's norm; zero means 0.5
}

// UpdateGradient takes one step by all steps of a rollout.
func UpdateGradient(m Model, steps []Step, o GradientOptions) error {
	o.EnsureDefaults()
	if o.ValueLoss == 0 {
		o.ValueLoss = 1
	}
	if o.MaxNorm == 0 {
		o.MaxNorm = 0.5
	}
	if !o.Critic {
		steps = blind(steps)
	}
	advantages, returns := Advantages(steps, o.Discounts)
	states, mean := make([]Observation, len(steps)), 0.0
	for k, s := range steps {
		states[k] = s.Observation
		if !o.Critic {
			mean += returns[k] / float64(len(steps))
		}
	}
	logits, values := m.Forward(states)
	n := float64(len(steps))
	dLogits, dValues := make([][]float64, len(steps)), make([]float64, len(steps))
	for k, s := range steps {
		log := LogProbabilities(logits[k], s.Mask)
		dLogits[k] = logitGradient(log, s.Action, -(advantages[k]-mean)/n, o.Entropy/n, Entropy(log))
		if o.Critic {
			dValues[k] = o.ValueLoss * (values[k] - returns[k]) / n
		}
	}
	if err := m.Descend(dLogits, dValues, o.MaxNorm); err != nil {
		return fmt.Errorf("learn by a policy gradient: %w", err)
	}
	return nil
}

// blind are steps whose states have no values.
func blind(steps []Step) []Step {
	all := make([]Step, len(steps))
	for k, s := range steps {
		s.Value, s.Bootstrap = 0, 0
		all[k] = s
	}
	return all
}

// Example is a decision to imitate.
type Example struct {
	Observation
	Action int // that was taken
}

// ImitationOptions configure learning from decisions of another scheduler or agent.
type ImitationOptions struct {
	Epochs  int     // passes over the examples; zero means 1
	Batch   int     // examples in a gradient; zero means 64
	MaxNorm float64 // bound of the gradient's norm; zero means none
}

// Imitate lets a model repeat decisions, by the cross-entropy of its probabilities. It returns the mean
// of the last pass. Random shuffles the examples.
func Imitate(m Model, examples []Example, o ImitationOptions, random *rand.Rand) (loss float64, err error) {
	if o.Epochs == 0 {
		o.Epochs = 1
	}
	if o.Batch == 0 {
		o.Batch = 64
	}
	for range o.Epochs {
		order := random.Perm(len(examples))
		loss = 0
		for at := 0; at < len(order); at += o.Batch {
			part, err := imitateBatch(m, examples, order[at:min(at+o.Batch, len(order))], o.MaxNorm)
			if err != nil {
				return loss, fmt.Errorf("learn by imitation: %w", err)
			}
			loss += part / float64(len(examples))
		}
	}
	return loss, nil
}

// imitateBatch takes a step by some examples, and returns the sum of their losses before it.
func imitateBatch(m Model, examples []Example, places []int, clip float64) (loss float64, err error) {
	states := make([]Observation, len(places))
	for k, place := range places {
		states[k] = examples[place].Observation
	}
	logits, _ := m.Forward(states)
	d := make([][]float64, len(places))
	for k, place := range places {
		log, action := LogProbabilities(logits[k], states[k].Mask), examples[place].Action
		if math.IsInf(log[action], -1) {
			return 0, fmt.Errorf("example %d takes action %d, which its mask forbids", place, action)
		}
		loss -= log[action]
		d[k] = logitGradient(log, action, -1/float64(len(places)), 0, 0)
	}
	return loss, m.Descend(d, make([]float64, len(places)), clip)
}
