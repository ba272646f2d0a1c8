package decider

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"graft/model"
	"graft/net2net"
)

// Gain is the estimated benefit of an action, and its cost.
type Gain struct {
	Action net2net.Action `json:"action"` // action that was rated
	// squared norm of the gradient of the loss with respect to the new weights
	Gain float64     `json:"gain"`
	Cost float64     `json:"cost"` // increase of the measure that Unit names
	Unit GainMeasure `json:"unit"` // measure of the cost, the same for all actions of a decision
}

// GainMeasure names a measure of the cost of an action.
type GainMeasure string

// Measures of the cost of an action, in the order of preference.
const (
	StepSeconds GainMeasure = "step_s"     // time of a training step in seconds
	Operations  GainMeasure = "operations" // floating-point operations of a forward pass of one example
	Parameters  GainMeasure = "parameters" // number of parameters
)

// ErrNoTime reports that the budget has no time left to compute a gain.
var ErrNoTime = errors.New("the budget has no time left to compute the gradient")

// Gradient is the decider that takes the action with the largest gain per cost. The gain is the squared norm of the
// gradient that the new weights would have, which GradMax maximises (Evci et al., GradMax: Growing Neural Networks
// using Gradient Information, 2022, arXiv 2201.05125): to first order, it is the decrease of the loss per learning rate
// in a step of the new weights alone. The cost is the increase of the time of a training step.
//
// All actions of a decision have the same measure of cost, since gains per different units cannot be compared. It is
// the time of a step if this time is known, and increases with every action. Otherwise it is the number of
// floating-point operations, if it increases with every action, and else the number of parameters. Actions that add no
// parameters are skipped.
//
// On a tie, Gradient takes the first action in the list. It takes "none" if no action fits, if no gain is positive, or
// if the budget has no time left for the gradients. Gains take time from the budget.
type Gradient struct {
	Random // decider whose choices are rated
}

// Decide computes the gains of all choices and takes the choice with the largest gain per cost.
func (g Gradient) Decide(ctx context.Context, s State) (Decision, error) {
	if s.Gain == nil {
		return Decision{}, errors.New("decide by the gradient: this job cannot compute gradients; use a job in which " +
			"graft trains the network")
	}
	actions, err := g.Rated(s.Network)
	if err != nil {
		return Decision{}, fmt.Errorf("decide by the gradient: %w", err)
	}
	var d Decision
	for _, a := range actions {
		if err := ctx.Err(); err != nil {
			return Decision{}, err
		}
		gain, err := s.Gain(a)
		if errors.Is(err, ErrNoTime) {
			return Decision{}, nil
		}
		if err != nil {
			return Decision{}, fmt.Errorf("decide by the gradient: %w", err)
		}
		d.Gains = append(d.Gains, Gain{Action: a, Gain: gain})
	}
	if err := s.price(d.Gains, g.Surgery); err != nil {
		return Decision{}, fmt.Errorf("decide by the gradient: %w", err)
	}
	d.Action = steepest(d.Gains)
	return d, nil
}

// Rated returns the actions that the decider rates: they fit the network, have a gain and add parameters. The network
// needs no weights.
func (g Gradient) Rated(n *model.Network) ([]net2net.Action, error) {
	actions, err := g.choices(n)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(actions, func(a net2net.Action) bool {
		if a.Kind == net2net.None || net2net.CheckGain(n.Bare(), a, g.Surgery) != nil {
			return true
		}
		twin := n.Bare()
		_, err := net2net.Apply(twin, a, g.Surgery)
		return err != nil || twin.Parameters() <= n.Parameters()
	}), nil
}

// price sets the costs of actions.
func (s State) price(gains []Gain, o net2net.Options) error {
	costs := make([]map[GainMeasure]float64, len(gains))
	for k := range gains {
		var err error
		if costs[k], err = s.increase(gains[k].Action, o); err != nil {
			return err
		}
	}
	charge(gains, costs)
	return nil
}

// charge sets the cost of each action in the first measure that increases with every action.
func charge(gains []Gain, costs []map[GainMeasure]float64) {
	measures := []GainMeasure{StepSeconds, Operations, Parameters}
	at := slices.IndexFunc(measures, func(m GainMeasure) bool {
		return !slices.ContainsFunc(costs, func(c map[GainMeasure]float64) bool { return !(c[m] > 0) })
	})
	for k := range gains {
		gains[k].Unit = measures[max(0, at)]
		gains[k].Cost = costs[k][gains[k].Unit]
	}
}

// Steepest returns the action with the largest gain per cost, or "none" if no gain is positive. It rates only actions
// with a positive gain. [Gradient] also rates actions with a gain of zero, so it may use another measure of cost.
func (s Situation) Steepest() net2net.Action {
	var gains []Gain
	var costs []map[GainMeasure]float64
	for k, gain := range s.Gains {
		c := s.Choices[k]
		if gain <= 0 || c.Parameters <= 0 {
			continue
		}
		cost := map[GainMeasure]float64{Operations: float64(c.Operations), Parameters: float64(c.Parameters)}
		if s.Step > 0 && s.After != nil && s.After[k] > 0 {
			cost[StepSeconds] = (s.After[k] - s.Step).Seconds()
		}
		gains, costs = append(gains, Gain{Action: c.Action, Gain: gain}), append(costs, cost)
	}
	charge(gains, costs)
	return steepest(gains)
}

// increase returns what an action adds to the costs of the network; zero means unknown.
func (s State) increase(a net2net.Action, o net2net.Options) (map[GainMeasure]float64, error) {
	after := s.Network.Bare()
	if _, err := net2net.Apply(after, a, o); err != nil {
		return nil, err
	}
	was, err := s.Network.Operations()
	if err != nil {
		return nil, err
	}
	now, err := after.Operations()
	if err != nil {
		return nil, err
	}
	c := map[GainMeasure]float64{Operations: float64(now - was),
		Parameters: float64(after.Parameters() - s.Network.Parameters())}
	if s.StepOf != nil && s.Step > 0 {
		if step := s.StepOf(after); step > 0 {
			c[StepSeconds] = (step - s.Step).Seconds()
		}
	}
	return c, nil
}

// steepest returns the action with the largest gain per cost.
func steepest(gains []Gain) (best net2net.Action) {
	most := 0.0
	for _, g := range gains {
		if rate := g.Gain / g.Cost; rate > most && !math.IsInf(rate, 1) {
			most, best = rate, g.Action
		}
	}
	return best
}
