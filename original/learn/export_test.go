package learn

import (
	"math"

	"graft/torch"
	"graft/torch/weights"
)

// Force learns from one given sequence of actions as if it had been drawn, and returns the objective.
func (l *Learner) Force(actions []int) (objective float64, err error) {
	var states []int32
	state := int32(0)
	for _, a := range actions {
		states = append(states, state)
		state = l.Tree.States[state].Children[a]
	}
	rows, err := l.policy.Probabilities(states, l.at.Temperature)
	if err != nil {
		return 0, err
	}
	coefficients := make([][]float64, len(actions))
	share := l.Tree.rewards(l.Reward)[-1-state] / float64(len(actions))
	for k, a := range actions {
		coefficients[k] = make([]float64, l.Tree.Actions)
		coefficients[k][a] = -share
		objective -= share * math.Log(rows[k][a])
	}
	if err := l.policy.Gradient(states, coefficients, l.at.Temperature); err != nil {
		return 0, err
	}
	return objective, l.policy.Step(l.rule(), &l.at)
}

// Gradient returns the gradient of the last step by parameter name.
func (l *Learner) Gradient() (*weights.Set, error) {
	set := &weights.Set{}
	return set, l.add(set, "", torch.PolicyGradient)
}
