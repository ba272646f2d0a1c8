package learn

import (
	"fmt"
	"slices"

	"graft/model"
	"graft/net2net"
	"graft/original/vocab"
	"graft/simulation/tables"
)

// Tokens converts a network to the tokens that a policy reads.
type Tokens func(n *model.Network) ([]int32, error)

// VocabularyTokens returns a function that converts networks to the tokens of a vocabulary. If prefix is true, token 0
// comes first, as in the training of the original system's first policies.
func VocabularyTokens(v *vocab.Vocabulary, prefix bool) Tokens {
	return func(n *model.Network) ([]int32, error) {
		ids, err := v.Tokens(n)
		if err != nil {
			return nil, err
		}
		var tokens []int32
		if prefix {
			tokens = append(tokens, 0)
		}
		for _, id := range ids {
			tokens = append(tokens, int32(id))
		}
		return tokens, nil
	}
}

// TreeOptions holds the options for converting a table to a tree. The field Tokens is required.
type TreeOptions struct {
	Surgery net2net.Options // options for applying actions; networks have no weights, so no batch is needed
	Tokens  Tokens          // conversion of networks to tokens; required
	// Discard skips the random numbers that the original system drew for the weights of its networks. A policy then
	// draws the same actions as in the original system on a CPU. Default false.
	Discard bool
}

// NewPolicyTree converts a table to a tree for learning. Each prefix of the table's sequences becomes a state: the
// network that the prefix creates from the network n, and the time left. Each complete sequence becomes a leaf, whose
// number is the index of the sequence's record in the table. The network n has no weights and is not changed.
func NewPolicyTree(t *tables.Table, n *model.Network, o TreeOptions) (*Tree, error) {
	if len(t.Actions) == 0 {
		return nil, fmt.Errorf("create a tree from table %s: the table's actions depend on the network; expected a "+
			"table with a fixed list of actions", t.Name)
	}
	if err := t.Complete(); err != nil {
		return nil, fmt.Errorf("create a tree: %w", err)
	}
	tree := &Tree{Actions: len(t.Actions)}
	for k := range t.Records {
		tree.Accuracy = append(tree.Accuracy, t.Records[k].Mean())
	}
	if o.Discard {
		tree.Discarded = drawn(n)
	}
	all := []grown{{net: n}}
	for k := 0; k < len(all); k++ {
		more, err := addState(t, tree, all[k], len(all), o)
		if err != nil {
			return nil, fmt.Errorf("create a tree from table %s: %w", t.Name, err)
		}
		all = append(all, more...)
	}
	return tree, nil
}

// grown is a network after a prefix of a sequence.
type grown struct {
	prefix []string
	net    *model.Network
}

// addState adds a state to the tree and returns its children; next is the index of the first child.
func addState(t *tables.Table, tree *Tree, g grown, next int, o TreeOptions) ([]grown, error) {
	s := TreeState{Left: t.LeftAfter(g.prefix), Budget: t.Budget}
	var err error
	if s.Tokens, err = o.Tokens(g.net); err != nil {
		return nil, fmt.Errorf("after the action sequence %s: %w", tables.Tuple(g.prefix), err)
	}
	var more []grown
	for _, text := range t.Actions {
		prefix := append(slices.Clone(g.prefix), text)
		net, err := grow(g.net, text, o.Surgery)
		if err != nil {
			return nil, fmt.Errorf("after the action sequence %s: %w", tables.Tuple(g.prefix), err)
		}
		if o.Discard {
			s.Discarded = append(s.Discarded, int32(discarded(g.net, net)))
		}
		if len(prefix) == t.Decisions {
			s.Children = append(s.Children, int32(-1-t.Index(prefix...)))
			continue
		}
		s.Children = append(s.Children, int32(next+len(more)))
		more = append(more, grown{prefix, net})
	}
	tree.States = append(tree.States, s)
	return more, nil
}

func grow(n *model.Network, text string, o net2net.Options) (*model.Network, error) {
	action, err := net2net.ParseAction(text)
	if err != nil {
		return nil, err
	}
	grown := n.Sketch()
	_, err = net2net.Apply(grown, action, o)
	return grown, err
}

// drawn counts the random numbers that PyTorch draws for a network's initial weights: one for each value that does not
// start at zero or one.
func drawn(n *model.Network) int {
	count := 0
	for _, e := range n.State() {
		if e.Slot.Role == model.Weight || e.Slot.Role == model.Bias && hasWeight(e.Leaf.Layer) {
			count += e.Slot.Count()
		}
	}
	return count
}

// hasWeight distinguishes layers with a drawn bias from layers whose bias starts at zero.
func hasWeight(l model.Layer) bool {
	return slices.ContainsFunc(l.Slots(), func(s model.Slot) bool { return s.Role == model.Weight })
}

// madeOfOne is the number of random numbers that the original drew for a new linear layer of any size: it made a layer
// with a single input and output, and then replaced the weights.
const madeOfOne = 2

// discarded counts the random numbers that the original drew for a new layer before it replaced the weights by an
// identity.
func discarded(before, after *model.Network) int {
	had := map[string]int{}
	for _, leaf := range before.Leaves() {
		had[leaf.Layer.String()]++
	}
	count := 0
	for _, leaf := range after.Leaves() {
		had[leaf.Layer.String()]--
		if had[leaf.Layer.String()] >= 0 || !hasWeight(leaf.Layer) {
			continue
		}
		if _, linear := leaf.Layer.(model.Linear); linear {
			count += madeOfOne
			continue
		}
		for _, slot := range leaf.Layer.Slots() {
			count += slot.Count()
		}
	}
	return count
}
