package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/simulation"
)

// StepPolicy returns the probability of each action at a decision, in the order of the decision's choices.
type StepPolicy interface {
	Weigh(ctx context.Context, m Point) ([]float64, error)
}

// Point is a decision in a sequence, in the form that a policy reads.
type Point struct {
	Prefix  []string       // actions so far
	Actions []string       // choices in the order of the table
	Left    float64        // remaining budget in seconds
	Budget  float64        // total budget in seconds
	Network *model.Network // network after the prefix, without weights; callers must not change it
}

// Step is a decision that a policy made, with the probability of each choice.
type Step struct {
	Action        string    `json:"action"`        // most likely action, which is taken
	Number        int       `json:"number"`        // index of the action among the table's actions
	Left          float64   `json:"left_s"`        // remaining budget in seconds
	Actions       []string  `json:"actions"`       // choices
	Probabilities []float64 `json:"probabilities"` // probability of each choice
}

// follower takes the likeliest action at each decision.
type follower struct {
	name string
	// weigh returns the function that scores the choices of a tree's nodes.
	weigh func(t *simulation.Tree) (func(node int) ([]float64, error), error)
	// outside returns the names of the inputs that lie outside of the range in the training tables; nil for a policy
	// without a range
	outside func(s decider.Situation) []string
}

// Name returns the policy's name.
func (f follower) Name() string { return f.name }

// Distribution assigns probability 1 to the record that the policy reaches.
func (f follower) Distribution(t *simulation.Tree) ([]float64, error) {
	record, _, err := f.walk(t)
	if err != nil {
		return nil, err
	}
	return only(t, record), nil
}

func (f follower) walk(t *simulation.Tree) (record int, steps []Step, err error) {
	weigh, err := f.weigh(t)
	if err != nil {
		return 0, nil, err
	}
	for at := 0; ; {
		n := t.Nodes[at]
		weighed, err := weigh(at)
		if err == nil && slices.ContainsFunc(weighed, math.IsNaN) {
			err = errors.New("the policy returned a probability that is not a number")
		}
		if err != nil {
			return 0, nil, fmt.Errorf("decision %d: %w", len(steps)+1, err)
		}
		k := decider.Likeliest(weighed)
		actions := n.Actions()
		steps = append(steps, Step{Action: actions[k], Number: k, Left: n.Left.Seconds(), Actions: actions,
			Probabilities: weighed})
		if n.Last {
			return n.Next[k], steps, nil
		}
		at = n.Next[k]
	}
}

// Steps returns the decisions of a policy that takes the most likely action at each decision, or nil for other
// policies.
func Steps(t *simulation.Tree, c Policy) ([]Step, error) {
	f, ok := c.(follower)
	if !ok {
		return nil, nil
	}
	_, steps, err := f.walk(t)
	if err != nil {
		return nil, fmt.Errorf("evaluate policy %s on table %s: %w", f.name, t.Name, err)
	}
	return steps, nil
}

// Structural returns the policy that takes the most likely action of a structural policy at each decision.
func Structural(name string, p *decider.Structural) Policy {
	return follower{name: name, outside: p.Outside, weigh: func(t *simulation.Tree) (func(int) ([]float64, error),
		error) {
		if err := judges(p, t); err != nil {
			return nil, err
		}
		weighed, err := p.Probabilities(simulation.Situations([]*simulation.Tree{t})...)
		return func(node int) ([]float64, error) { return weighed[node], nil }, err
	}}
}

// judges returns an error if the tree offers kinds of actions that the policy has not learned from, because it would
// choose by chance. An untrained policy is allowed.
func judges(p *decider.Structural, t *simulation.Tree) error {
	strange := p.Unlearned(simulation.OfferedKinds([]*simulation.Tree{t}))
	if len(strange) == 0 {
		return nil
	}
	return fmt.Errorf("the policy was trained on the action kinds %s, but the table offers %s; use a policy that was "+
		"trained on tables with these kinds, or another table", cmp.Or(kindList(p.Learned), "none"), kindList(strange))
}

func kindList(kinds []net2net.Kind) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(kinds), "[]"), " ", " and ")
}

// Stepwise returns the policy that takes the most likely action of a step policy at each decision.
func Stepwise(ctx context.Context, name string, w StepPolicy) Policy {
	return follower{name: name, weigh: func(t *simulation.Tree) (func(int) ([]float64, error), error) {
		return func(node int) ([]float64, error) { return weigh(ctx, t, node, w) }, nil
	}}
}

// weigh asks a step policy about a node: with the actions in the table's order, and the time of the sequence that
// continues with the first action each time.
func weigh(ctx context.Context, t *simulation.Tree, node int, w StepPolicy) ([]float64, error) {
	n := t.Nodes[node]
	m := Point{Prefix: n.Prefix, Actions: t.Choices(n.Prefix), Left: t.LeftAfter(n.Prefix), Budget: t.Budget,
		Network: n.Network}
	weighed, err := w.Weigh(ctx, m)
	if err != nil {
		return nil, err
	}
	if len(weighed) != len(m.Actions) {
		return nil, fmt.Errorf("the policy scores %d actions, but the table has %d; use another policy or table",
			len(weighed), len(m.Actions))
	}
	shares := make([]float64, len(n.Choices))
	for k, action := range n.Actions() {
		shares[k] = weighed[slices.Index(m.Actions, action)]
	}
	return shares, nil
}
