package grid

import (
	"fmt"
	"math"
	"slices"

	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/simulation/tables"
)

// Space is the search space of action sequences. The choices at a decision depend on the current network, and the
// network depends only on the actions so far.
type Space struct {
	Network *model.Network // initial network of all sequences; its weights are not used
	// choices at every decision, in order; actions that do not fit are skipped; empty means the choices of Kinds
	Actions []net2net.Action
	// operations whose actions are choices at every decision, if they fit, in addition to the action "none"; nil means
	// deepen and widen
	Kinds     []net2net.Kind
	Decisions int             // number of decisions per sequence
	Surgery   net2net.Options // surgery options for the actions
}

// node is a point of the tree: its sequence, and the nodes that can follow.
type node struct {
	sequence []string // actions so far
	parent   *node    // nil at the root
	network  *model.Network
	children []*node // nil before they are computed, and at the end of a sequence

	keys     []string   // keys of its segment's causes, one per seed
	outcomes []*Outcome // nil means unknown
	failed   []bool     // failed too often
	shares   []float64  // a policy's probabilities of the children; nil before it was asked
}

func (g Space) choices(n *model.Network) ([]net2net.Action, error) {
	if len(g.Actions) > 0 {
		return g.Actions, nil
	}
	return decider.Proposals(n, g.Kinds)
}

// Rated returns the choices at a network that have a gain.
func (g Space) Rated(n *model.Network) ([]net2net.Action, error) {
	actions, err := g.choices(n)
	if err != nil {
		return nil, err
	}
	rule := decider.Gradient{Random: decider.Random{Actions: actions, Surgery: g.Surgery}}
	return rule.Rated(n)
}

// follow makes the nodes after a node. An action that does not fit is left out; a named action that does not fit at the
// root is an error.
func (g Space) follow(b *node) ([]*node, error) {
	if b.children != nil || len(b.sequence) == g.Decisions {
		return b.children, nil
	}
	actions, err := g.choices(b.network)
	if err != nil {
		return nil, fmt.Errorf("after the action sequence %s: %w", tables.Tuple(b.sequence), err)
	}
	for _, a := range actions {
		next := &node{sequence: append(slices.Clip(b.sequence), a.String()), parent: b, network: b.network.Sketch()}
		_, err := net2net.Apply(next.network, a, g.Surgery)
		if err != nil && b.parent == nil && len(g.Actions) > 0 {
			return nil, fmt.Errorf("after the action sequence %s: %w", tables.Tuple(b.sequence), err)
		}
		if err == nil {
			b.children = append(b.children, next)
		}
	}
	return b.children, nil
}

// Count returns the number of sequences and of their segments. It stops counting when the number of sequences exceeds
// the argument most. It assumes that all actions fit at the last decision.
//
// If the space lists kinds of actions, each decision also offers the action "none", so a deeper tree never has fewer
// sequences. Count then counts the sequences of shallower trees first, and stops as soon as one of them exceeds the
// maximum.
func (g Space) Count(most int) (sequences, segments int, err error) {
	top := g
	for top.Decisions = 1; len(g.Actions) == 0 && top.Decisions < g.Decisions; top.Decisions *= 2 {
		if sequences, segments, err = top.count(most, false); err != nil || sequences > most {
			return sequences, segments, err
		}
	}
	return g.count(most, true)
}

// count walks the tree. With proposed set it does not try the last proposals.
func (g Space) count(most int, proposed bool) (sequences, segments int, err error) {
	var count func(b *node) error
	count = func(b *node) error {
		segments++
		if len(b.sequence) == g.Decisions {
			sequences++
			return nil
		}
		if proposed && len(g.Actions) == 0 && len(b.sequence) == g.Decisions-1 {
			last, err := g.choices(b.network)
			sequences, segments = sequences+len(last), segments+len(last)
			return err
		}
		next, err := g.follow(b)
		for _, child := range next {
			if err == nil && sequences <= most {
				err = count(child)
			}
		}
		b.children = nil // limits the memory of large trees
		return err
	}
	err = count(&node{network: g.Network})
	return sequences, segments, err
}

// EachNetwork visits the initial network and each network that sequences produce, until the callback returns an error.
// EachNetwork visits networks that are equal after the same number of decisions once.
func (g Space) EachNetwork(visit func(n *model.Network) error) error {
	seen := map[string]bool{}
	var walk func(b *node) error
	walk = func(b *node) error {
		key := fmt.Sprint(len(b.sequence), net2net.Fingerprint(b.network))
		if seen[key] {
			return nil
		}
		seen[key] = true
		if err := visit(b.network); err != nil {
			return err
		}
		next, err := g.follow(b)
		for _, child := range next {
			if err == nil {
				err = walk(child)
			}
		}
		b.children = nil
		return err
	}
	return walk(&node{network: g.Network})
}

// settled reports whether a seed needs no more work.
func (b *node) settled(seed int) bool { return b.outcomes[seed] != nil || b.failed[seed] }

// done reports whether no seed needs more work.
func (b *node) done() bool {
	for k := range b.outcomes {
		if !b.settled(k) {
			return false
		}
	}
	return true
}

// first returns an outcome of the node, of any seed; nil means unknown.
func (b *node) first() *Outcome {
	for _, o := range b.outcomes {
		if o != nil {
			return o
		}
	}
	return nil
}

// before returns the accuracy at the decision after the node, averaged over the known seeds; negative means unknown.
func (b *node) before() float64 {
	if mean := b.mean(func(o *Outcome) []float64 { return o.Before }); !math.IsNaN(mean) {
		return mean
	}
	return -1
}

// mean returns a value at the decision after the node, averaged over the known seeds; NaN means unknown.
func (b *node) mean(of func(*Outcome) []float64) float64 {
	sum, count := 0.0, 0.0
	for _, o := range b.outcomes {
		if o != nil && len(of(o)) > len(b.sequence) {
			sum, count = sum+of(o)[len(b.sequence)], count+1
		}
	}
	return sum / count
}

// state returns the state at the decision after a node with a known outcome.
func (g *Grid) state(b *node) decider.State {
	o, at := b.first(), len(b.sequence)
	s := decider.State{Network: b.network, Left: tables.Seconds(o.Left[at]), Budget: tables.Seconds(g.Scenario.Budget),
		Decisions: at, Accuracy: b.before(), Step: tables.Seconds(o.Step[at])}
	if loss := b.mean(func(o *Outcome) []float64 { return o.Loss }); !math.IsNaN(loss) {
		s.Curve = decider.Curve{Loss: loss, Fall: b.mean(func(o *Outcome) []float64 { return o.Fall }),
			Gap: b.mean(func(o *Outcome) []float64 { return o.Gap })}
	}
	return s
}
