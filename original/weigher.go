package original

import (
	"context"
	"fmt"
	"strings"

	"graft/original/bilstm"
	"graft/simulation/evaluation"
)

// StepPolicy adapts a policy of the original system to the interface evaluation.StepPolicy.
type StepPolicy struct{ *bilstm.Policy }

// Weigh returns the probability that the policy assigns to each action available at a decision.
func (o StepPolicy) Weigh(_ context.Context, m evaluation.Point) ([]float64, error) {
	if actions := o.Shape().Actions; actions != len(m.Actions) {
		return nil, fmt.Errorf("the policy chooses among %d actions, but the table has %d; "+
			"use a policy that was trained on a table with this number of actions", actions, len(m.Actions))
	}
	if err := o.Fits(m.Network); err != nil {
		return nil, err
	}
	if err := offersBlocks(m); err != nil {
		return nil, err
	}
	t, err := o.Forward(m.Network, m.Left, m.Budget)
	if err != nil {
		return nil, err
	}
	var weighed []float64
	for _, p := range t.Probabilities {
		weighed = append(weighed, float64(p))
	}
	return weighed, nil
}

// offersBlocks returns an error unless the actions match the original's: deepen for each original block of the network,
// by number or by path, and none.
func offersBlocks(m evaluation.Point) error {
	numbers := ScenarioActions(m.Network)
	for k, a := range bilstm.Actions(m.Network) {
		if k >= len(m.Actions) || m.Actions[k] != a.String() && m.Actions[k] != numbers[k] {
			return fmt.Errorf("the policy chooses among the actions %s, but the table has the actions %s; use a "+
				"policy that was trained on a table with these actions", strings.Join(numbers, ", "),
				strings.Join(m.Actions, ", "))
		}
	}
	return nil
}
