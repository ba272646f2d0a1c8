package simulation

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
)

// Weigher is what is evaluated against a table: it says how likely it takes each
// action, in the order of the moment's. They add up to one.
type Weigher interface {
	Weigh(ctx context.Context, m Moment) ([]float64, error)
}

// Moment is where a sequence stands when it is decided how to go on.
type Moment struct {
	Prefix  []string       // the actions so far
	Actions []string       // to choose from, in the table's order
	Left    float64        // seconds of the budget
	Budget  float64        // seconds
	Network *model.Network // as the prefix has made it, without weights; not to be changed
}

// EvaluateOptions say how sequences are followed. The zero value deepens as graft
// does.
type EvaluateOptions struct {
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

// Evaluation is how a decider fares in a table, taking the likeliest action each
// time.
type Evaluation struct {
	Table  *Table
	Steps  []Step
	Chosen *Record
	// Ranking is the table's records by mean accuracy, the best first; equals are in
	// the table's order.
	Ranking []*Record
}

// Evaluate follows a decider through a table, whose sequences begin with a network.
// The table must be complete, and the network is not changed.
func Evaluate(ctx context.Context, t *Table, n *model.Network, w Weigher, o EvaluateOptions) (*Evaluation, error) {
	if err := t.Complete(); err != nil {
		return nil, err
	}
	if len(t.Records) == 0 || t.Decisions < 1 {
		return nil, fmt.Errorf("table %s: it has no sequences of decisions; simulate some", t.Name)
	}
	e := &Evaluation{Table: t}
	m := Moment{Budget: t.Budget, Network: n.Sketch()}
	for len(m.Prefix) < t.Decisions {
		if err := e.step(ctx, &m, w, o); err != nil {
			return nil, fmt.Errorf("evaluate on table %s, decision %d: %w", t.Name, len(m.Prefix)+1, err)
		}
	}
	e.Chosen = t.Find(m.Prefix...)
	for k := range t.Records {
		e.Ranking = append(e.Ranking, &t.Records[k])
	}
	slices.SortStableFunc(e.Ranking, func(a, b *Record) int { return -cmp.Compare(a.Mean(), b.Mean()) })
	return e, nil
}

// step takes one decision and does what it says.
func (e *Evaluation) step(ctx context.Context, m *Moment, w Weigher, o EvaluateOptions) error {
	m.Actions, m.Left = e.Table.choices(m.Prefix), e.Table.left(m.Prefix)
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
func (m Moment) fits(weighed []float64) error {
	if len(weighed) != len(m.Actions) {
		return fmt.Errorf("it weighs %d actions, and the table has %d; take another policy or another table", len(weighed), len(m.Actions))
	}
	if slices.ContainsFunc(weighed, math.IsNaN) {
		return errors.New("a probability is no number")
	}
	return nil
}

// choices are the actions that follow a prefix: the table's, or those of its
// records where they depend on the network.
func (t *Table) choices(prefix []string) []string {
	if len(t.Actions) > 0 {
		return t.Actions
	}
	var found []string
	for k := range t.Records {
		s := t.Records[k].Sequence
		if next := s[len(prefix)]; slices.Equal(s[:len(prefix)], prefix) && !slices.Contains(found, next) {
			found = append(found, next)
		}
	}
	return found
}

// left is the time left after a prefix. Each sequence was a run of its own, so those
// that begin with the prefix differ in it; as in the original it is that of the one
// which goes on with the first action each time.
func (t *Table) left(prefix []string) float64 {
	sequence := slices.Clone(prefix)
	for len(sequence) < t.Decisions {
		sequence = append(sequence, t.choices(sequence)[0])
	}
	return t.Find(sequence...).Left[len(prefix)]
}

// NoAdaptation is the record of the sequence that does nothing; nil where the table
// has none.
func (e *Evaluation) NoAdaptation() *Record { return e.Table.always(net2net.Action{}.String()) }

// always is the record of one action, taken each time.
func (t *Table) always(action string) *Record {
	return t.Find(slices.Repeat([]string{action}, t.Decisions)...)
}

// OfLegacy lets a policy of the original be evaluated.
type OfLegacy struct{ *decider.LegacyPolicy }

// Weigh asks the policy.
func (o OfLegacy) Weigh(_ context.Context, m Moment) ([]float64, error) {
	if actions := o.Shape().Actions; actions != len(m.Actions) {
		return nil, fmt.Errorf("the policy chooses among %d actions, and the table has %d; take a policy that was learned on such a table", actions, len(m.Actions))
	}
	if err := o.Fits(m.Network); err != nil {
		return nil, err
	}
	if err := m.offersBlocks(); err != nil {
		return nil, err
	}
	t, err := o.Think(m.Network, m.Left, m.Budget)
	if err != nil {
		return nil, err
	}
	var weighed []float64
	for _, p := range t.Probabilities {
		weighed = append(weighed, float64(p))
	}
	return weighed, nil
}

// offersBlocks says why the actions are not those of the original: to deepen each of
// the blocks that the network was made with, by number or by path, and none.
func (m Moment) offersBlocks() error {
	numbers := LegacyScenarioActions(m.Network)
	for k, a := range decider.LegacyActions(m.Network) {
		if k >= len(m.Actions) || m.Actions[k] != a.String() && m.Actions[k] != numbers[k] {
			return fmt.Errorf("the policy chooses among %s, and the table among %s; take a policy that was learned on such a table",
				strings.Join(numbers, ", "), strings.Join(m.Actions, ", "))
		}
	}
	return nil
}
