package simulation

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/simulation/tables"
	"graft/trainer/clock"
)

// Tree holds a table as a tree of decisions. Each decision has the current network and the remaining time. Structural
// policies learn from trees.
type Tree struct {
	*tables.Table
	Nodes []Node // decisions; each comes after its parent, and the root is the first

	roles map[string]string // see Role
}

// Node is a decision in the tree, with the actions that lead to it and the available choices.
type Node struct {
	decider.Situation
	Prefix []string // actions before the decision
	// index of the next node for each choice; for the last decision, index of the record
	Next []int
	Last bool // the decision is the last one
}

// TreeOptions describes a table's networks if the table itself does not. The zero value selects the network in graft's
// model zoo that has the scenario's name, and graft's own surgery.
type TreeOptions struct {
	// initial network if the table does not contain it; nil means the network in the model zoo that has the scenario's
	// name
	Network *model.Network
	// surgery options for the actions; the original system's tables need net2net.Original
	Surgery net2net.Options
	Profile *clock.Profile // device profile for step times; nil means that step times are unknown
	Batch   int            // number of examples per step; zero means 64
}

// EnsureDefaults fills unset options.
func (o *TreeOptions) EnsureDefaults() { o.Batch = cmp.Or(o.Batch, 64) }

// Validate returns an error that lists every invalid option.
func (o TreeOptions) Validate() error {
	if o.Batch < 1 {
		return fmt.Errorf("batch is %d; must be at least 1", o.Batch)
	}
	return nil
}

// adopt takes the options that the table states itself.
func (o *TreeOptions) adopt(t *tables.Table) error {
	if t.Origin == nil {
		return nil
	}
	o.Surgery = t.Origin.Surgery()
	if t.Origin.Batch > 0 {
		o.Batch = t.Origin.Batch
	}
	var err error
	o.Network, err = t.Origin.Network()
	return err
}

// NewTree creates the tree of a table by following every sequence.
func NewTree(t *tables.Table, o TreeOptions) (*Tree, error) {
	if err := o.adopt(t); err != nil {
		return nil, fmt.Errorf("table %s: %w", t.Name, err)
	}
	o.EnsureDefaults()
	if err := errors.Join(o.Validate(), t.Complete()); err != nil {
		return nil, err
	}
	if len(t.Records) == 0 || t.Decisions < 1 {
		return nil, fmt.Errorf("table %s: the table has no decisions", t.Name)
	}
	if o.Network == nil {
		n, err := model.Zoo(t.Network, model.ZooOptions{})
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Name, err)
		}
		o.Network = n
	}
	p := &treeBuilder{TreeOptions: o, tree: &Tree{Table: t}, observations: map[string]*decider.Observation{}}
	all := make([]int, len(t.Records))
	for k := range all {
		all[k] = k
	}
	if _, err := p.plant(o.Network.Sketch(), nil, all); err != nil {
		return nil, fmt.Errorf("table %s: %w", t.Name, err)
	}
	p.tree.roles = widthRoles(p.tree)
	return p.tree, nil
}

// treeBuilder makes a tree. Equal networks share one observation.
type treeBuilder struct {
	TreeOptions
	tree         *Tree
	observations map[string]*decider.Observation // by network and offered actions
}

// plant adds the node of a prefix that these records share, and everything below it.
func (p *treeBuilder) plant(n *model.Network, prefix []string, records []int) (int, error) {
	t, at := p.tree.Table, len(prefix)
	order, groups := p.split(records, at)
	observation, err := p.observation(n, order)
	if err != nil {
		return 0, fmt.Errorf("after the action sequence %s: %w", tables.Tuple(prefix), err)
	}
	first := t.Records[records[0]]
	state := decider.State{Network: n, Left: tables.Seconds(first.Left[at]), Budget: tables.Seconds(t.Budget),
		Decisions: at}
	if len(first.Before) > 0 {
		state.Accuracy = p.mean(records, at, func(r *tables.Record) []float64 { return r.Before })
	}
	if len(first.Loss) > 0 {
		state.Curve = decider.Curve{
			Loss: p.mean(records, at, func(r *tables.Record) []float64 { return r.Loss }),
			Fall: p.mean(records, at, func(r *tables.Record) []float64 { return r.Fall }),
			Gap:  p.mean(records, at, func(r *tables.Record) []float64 { return r.Gap }),
		}
	}
	switch {
	case len(first.Step) > 0:
		state.Step = tables.Seconds(first.Step[at])
	case p.Profile != nil:
		state.Step = p.Profile.Cost(clock.Work{Kind: clock.Steps, Count: 1, Rows: p.Batch, Network: n})
	}
	place := len(p.tree.Nodes)
	situation := decider.Situation{Observation: observation, State: state, Gains: p.gains(order, groups, at)}
	p.tree.Nodes = append(p.tree.Nodes, Node{Situation: situation, Prefix: prefix, Last: at == t.Decisions-1})
	for k, action := range order {
		next := groups[action][0]
		if at < t.Decisions-1 {
			grown := n.Sketch()
			if _, err := net2net.Apply(grown, observation.Choices[k].Action, p.Surgery); err != nil {
				return 0, fmt.Errorf("after the action sequence %s: %w", tables.Tuple(prefix), err)
			}
			if next, err = p.plant(grown, append(slices.Clone(prefix), action), groups[action]); err != nil {
				return 0, err
			}
		}
		here := &p.tree.Nodes[place]
		here.Next = append(here.Next, next)
		if here.Last {
			here.After = append(here.After, tables.Seconds(t.Records[next].LastStep))
		} else {
			here.After = append(here.After, p.tree.Nodes[next].Step)
		}
	}
	return place, nil
}

// mean returns a value at a decision, averaged over the seeds of all its records.
func (p *treeBuilder) mean(records []int, at int, of func(*tables.Record) []float64) float64 {
	sum, count := 0.0, 0.0
	for _, k := range records {
		if r := &p.tree.Records[k]; len(of(r)) > at {
			sum, count = sum+of(r)[at]*float64(len(r.Seeds)), count+float64(len(r.Seeds))
		}
	}
	return sum / count
}

// gains returns the gain of each choice; nil if the table has no gains.
func (p *treeBuilder) gains(order []string, groups map[string][]int, at int) (gains []float64) {
	for _, action := range order {
		gain := p.mean(groups[action], at, func(r *tables.Record) []float64 { return r.Gain })
		if math.IsNaN(gain) {
			return nil
		}
		gains = append(gains, gain)
	}
	return gains
}

// split groups records by their next action, in the order of the table.
func (p *treeBuilder) split(records []int, at int) (order []string, groups map[string][]int) {
	groups = map[string][]int{}
	for _, k := range records {
		action := p.tree.Records[k].Sequence[at]
		if groups[action] == nil {
			order = append(order, action)
		}
		groups[action] = append(groups[action], k)
	}
	return order, groups
}

func (p *treeBuilder) observation(n *model.Network, actions []string) (*decider.Observation, error) {
	key := net2net.Fingerprint(n) + tables.Tuple(actions)
	if known := p.observations[key]; known != nil {
		return known, nil
	}
	parsed := make([]net2net.Action, len(actions))
	for k, text := range actions {
		var err error
		if parsed[k], err = net2net.ParseAction(text); err != nil {
			return nil, err
		}
	}
	observation, err := decider.NewObservation(n, parsed, p.Surgery)
	if err != nil {
		return nil, err
	}
	p.observations[key] = observation
	return observation, nil
}

// Situations returns the inputs of a structural policy at all decisions of the trees, tree by tree.
func Situations(trees []*Tree) []decider.Situation {
	var all []decider.Situation
	for _, t := range trees {
		for _, n := range t.Nodes {
			all = append(all, n.Situation)
		}
	}
	return all
}

// OfferedKinds returns a sorted list of the kinds of actions, except none, that the trees offer as a choice.
func OfferedKinds(trees []*Tree) []net2net.Kind {
	var kinds []net2net.Kind
	for _, s := range Situations(trees) {
		for _, c := range s.Choices {
			if c.Action.Kind != net2net.None && !slices.Contains(kinds, c.Action.Kind) {
				kinds = append(kinds, c.Action.Kind)
			}
		}
	}
	slices.Sort(kinds)
	return kinds
}

// OfferedTargets returns a sorted list of targets: the operation and layer of every action that the trees offer as a
// choice.
func OfferedTargets(trees []*Tree) []string {
	targets := map[string]bool{}
	for _, s := range Situations(trees) {
		for _, c := range s.Choices {
			targets[s.Observation.Target(c)] = true
		}
	}
	delete(targets, "") // the action none
	return slices.Sorted(maps.Keys(targets))
}

// Follow walks through the tree and takes the choice that the callback returns for each node. Follow returns the index
// of the record that this path reaches.
func (t *Tree) Follow(pick func(node int) int) int {
	at := 0
	for !t.Nodes[at].Last {
		at = t.Nodes[at].Next[pick(at)]
	}
	return t.Nodes[at].Next[pick(at)]
}

// Spread returns the probability of each record, given the probabilities of the choices at each node.
func (t *Tree) Spread(probabilities [][]float64) []float64 {
	shares, reach := make([]float64, len(t.Records)), make([]float64, len(t.Nodes))
	reach[0] = 1
	for at, n := range t.Nodes {
		for k, next := range n.Next {
			share := reach[at] * probabilities[at][k]
			if n.Last {
				shares[next] += share
			} else {
				reach[next] += share
			}
		}
	}
	return shares
}

// ChoiceCount returns the total number of choices over all nodes.
func (t *Tree) ChoiceCount() int {
	n := 0
	for _, node := range t.Nodes {
		n += len(node.Next)
	}
	return n
}

// Actions returns the choices in the notation of tables, such as deepen:0.
func (n Node) Actions() []string {
	actions := make([]string, len(n.Choices))
	for k, c := range n.Choices {
		actions[k] = c.Action.String()
	}
	return actions
}

// Digest returns a SHA-256 in hexadecimal. It covers all inputs of learning and evaluation: the records with their
// seeds, and the policy inputs at each decision.
func (t *Tree) Digest() string {
	h, scenario := sha256.New(), t.Scenario
	scenario.Origin = nil // is a pointer; its target is hashed
	fmt.Fprintf(h, "%+v\n", scenario)
	if t.Origin != nil {
		fmt.Fprintf(h, "%s %s %s %d\n", t.Origin.Form, t.Origin.Deepen, t.Origin.Compat, t.Origin.Batch)
	}
	for _, r := range t.Records {
		fmt.Fprintf(h, "%q %q\n", r.Sequence, r.Networks)
		fmt.Fprintln(h, r.Seeds, r.Left, r.Accuracy, r.Step, r.Before, r.Loss, r.Fall, r.Gap, r.After, r.LastStep)
		if len(r.Gain) > 0 { // tables without gains keep their digest
			fmt.Fprintln(h, "gain", r.Gain)
		}
	}
	for _, n := range t.Nodes {
		fmt.Fprintf(h, "%q %v %v %v\n", n.Prefix, n.Last, n.Next, n.After)
		fmt.Fprintln(h, n.Left, n.Budget, n.Decisions, n.State.Accuracy, n.State.Step, n.Curve)
		if len(n.Gains) > 0 {
			fmt.Fprintln(h, "gains", n.Gains)
		}
		fmt.Fprintln(h, n.Observation.Parameters, n.Observation.Operations, n.Observation.Layers, n.Outputs)
		// a token's String leaves fields out
		fmt.Fprintf(h, "%#v %v %v\n", n.Structure.Tokens, n.Structure.Before, n.Structure.After)
		for _, c := range n.Choices {
			fmt.Fprintln(h, c.Action, c.Tokens, c.Parameters, c.Operations, c.Layers, c.Step)
			if c.Gain != 0 {
				fmt.Fprintln(h, "gain", c.Gain)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
