package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/simulation/tables"
)

// StepPolicy returns the probability of each action at a point, in the order of the
// point's. They add up to one.
type StepPolicy interface {
	Weigh(ctx context.Context, m Point) ([]float64, error)
}

// Point is a decision in a sequence.
type Point struct {
	Prefix  []string       // the actions so far
	Actions []string       // to choose from, in the table's order
	Left    float64        // seconds of the budget
	Budget  float64        // seconds
	Network *model.Network // as the prefix has made it, without weights; not to be changed
}

// FollowOptions configure how sequences are followed. The zero value deepens with the
// current surgery.
type FollowOptions struct {
	Surgery net2net.Options // how the table's actions were done; compat for the original's
}

// Step is a decision along the way.
type Step struct {
	Action        string    `json:"action"`        // that was taken, the likeliest
	Number        int       `json:"number"`        // its place among the table's actions
	Left          float64   `json:"left_s"`        // seconds
	Actions       []string  `json:"actions"`       // that it could choose from
	Probabilities []float64 `json:"probabilities"` // of Actions
}

// Path is the sequence of a policy that takes the likeliest action each time.
type Path struct {
	Table  *tables.Table
	Steps  []Step
	Chosen *tables.Record
	// Ranking is the table's records by mean accuracy, the best first; equals are in
	// the table's order.
	Ranking []*tables.Record
}

// Follow takes a policy through a table whose sequences begin with a network. The table
// must be complete; the network is not changed.
func Follow(ctx context.Context, t *tables.Table, n *model.Network, w StepPolicy, o FollowOptions) (*Path, error) {
	if err := t.Complete(); err != nil {
		return nil, err
	}
	if len(t.Records) == 0 || t.Decisions < 1 {
		return nil, fmt.Errorf("table %s: it has no sequences of decisions; simulate some", t.Name)
	}
	e := &Path{Table: t}
	m := Point{Budget: t.Budget, Network: n.Sketch()}
	for len(m.Prefix) < t.Decisions {
		if err := e.step(ctx, &m, w, o); err != nil {
			return nil, fmt.Errorf("evaluate on table %s, decision %d: %w", t.Name, len(m.Prefix)+1, err)
		}
	}
	e.Chosen = t.Find(m.Prefix...)
	for k := range t.Records {
		e.Ranking = append(e.Ranking, &t.Records[k])
	}
	slices.SortStableFunc(e.Ranking, func(a, b *tables.Record) int { return -cmp.Compare(a.Mean(), b.Mean()) })
	return e, nil
}

// step takes one decision and does what it says.
func (e *Path) step(ctx context.Context, m *Point, w StepPolicy, o FollowOptions) error {
	m.Actions, m.Left = e.Table.Choices(m.Prefix), e.Table.LeftAfter(m.Prefix)
	weighed, err := w.Weigh(ctx, *m)
	if err != nil {
		return err
	}
	if err := m.fits(weighed); err != nil {
		return err
	}
	k := decider.Likeliest(weighed)
	a, err := net2net.ParseAction(m.Actions[k])
	if err != nil {
		return err
	}
	if _, err := net2net.Apply(m.Network, a, o.Surgery); err != nil {
		return err
	}
	e.Steps = append(e.Steps, Step{Action: m.Actions[k], Number: k, Left: m.Left, Actions: m.Actions, Probabilities: weighed})
	m.Prefix = append(slices.Clone(m.Prefix), m.Actions[k])
	return nil
}

// fits says why these are no probabilities of the moment's actions.
func (m Point) fits(weighed []float64) error {
	if len(weighed) != len(m.Actions) {
		return fmt.Errorf("it weighs %d actions, and the table has %d; take another policy or another table", len(weighed), len(m.Actions))
	}
	if slices.ContainsFunc(weighed, math.IsNaN) {
		return errors.New("a probability is no number")
	}
	return nil
}

// NoAdaptation returns the record of the sequence of none; nil where the table has none.
func (e *Path) NoAdaptation() *tables.Record { return e.Table.Repeated(net2net.Action{}.String()) }
