package evaluation

import (
	"fmt"
	"slices"

	"graft/simulation"
	"graft/simulation/tables"
)

// BestFixed returns the policy that takes, on every tree, the sequence with the smallest mean regret over the given
// trees. Sequences of different trees are the same if their actions have the same [simulation.Tree.Role]. If smoothed
// is true, regrets are computed from accuracies smoothed by a model instead of from single runs. The policy takes the
// action "none" if a tree does not offer an action of the sequence, and at decisions after the sequence. It cannot
// choose on a tree that does not offer "none" there. Sequences that do not exist in all given trees are not candidates.
// If several sequences have the smallest regret, their results are averaged.
func BestFixed(name string, trees []*simulation.Tree, smoothed bool) (Policy, error) {
	var sequences [][]string
	known := map[string]bool{}
	for _, t := range trees {
		for _, r := range t.Records {
			sequence := rolesOf(t, withoutRest(r.Sequence))
			if key := tables.Tuple(sequence); !known[key] {
				known[key], sequences = true, append(sequences, sequence)
			}
		}
	}
	return bestOf(name, trees, sequences, smoothed)
}

// rolesOf returns the roles of actions, under which tables of networks of other sizes offer them.
func rolesOf(t *simulation.Tree, actions []string) []string {
	roles := make([]string, len(actions))
	for k, action := range actions {
		roles[k] = t.Role(action)
	}
	return roles
}

// withoutRest drops trailing decisions with the action none, which is the default anyway.
func withoutRest(sequence []string) []string {
	for len(sequence) > 0 && sequence[len(sequence)-1] == tables.None {
		sequence = sequence[:len(sequence)-1]
	}
	return sequence
}

// BestAction returns the policy that takes one action at every decision that offers it: the action with the smallest
// mean regret over the given trees. Actions are compared by role.
func BestAction(name string, trees []*simulation.Tree) (Policy, error) {
	var sequences [][]string
	most := 0
	for _, t := range trees {
		most = max(most, t.Decisions)
	}
	for _, action := range append(offered(trees), tables.None) {
		sequences = append(sequences, slices.Repeat([]string{action}, most))
	}
	return bestOf(name, trees, sequences, false)
}

// offered returns the roles of the actions of trees, except none.
func offered(trees []*simulation.Tree) (actions []string) {
	for _, t := range trees {
		for _, action := range rolesOf(t, t.Nodes[0].Actions()) {
			if action != tables.None && !slices.Contains(actions, action) {
				actions = append(actions, action)
			}
		}
	}
	return actions
}

// bestOf is the policy of the sequence with the least mean regret over some trees, or the mean of several such
// sequences. Sequences that a tree does not offer are not candidates.
func bestOf(name string, trees []*simulation.Tree, sequences [][]string, smoothed bool) (Policy, error) {
	sequences = offeredByAll(trees, sequences)
	sums := make([]float64, len(sequences))
	for _, t := range trees {
		values := simulation.MeanAccuracies(t.Table)
		if smoothed {
			values = simulation.Smoothed(t.Table)
		}
		for k, sequence := range sequences {
			record, err := along(t, sequence)
			if err != nil {
				return nil, err
			}
			sums[k] += values[record] - slices.Max(values)
		}
	}
	if len(sums) == 0 {
		return nil, fmt.Errorf("%s: %w", name, noSequence("the tables have no sequence in common"))
	}
	best := largest(sums)
	return named{name: name, ties: len(best), choose: func(t *simulation.Tree) ([]float64, error) {
		var records []int
		for _, k := range best {
			record, err := along(t, sequences[k])
			if err != nil {
				return nil, err
			}
			records = append(records, record)
		}
		return evenly(len(t.Records), records), nil
	}}, nil
}

// offeredByAll returns the sequences that exist in each tree.
func offeredByAll(trees []*simulation.Tree, sequences [][]string) (offered [][]string) {
	for _, sequence := range sequences {
		if !slices.ContainsFunc(trees, func(t *simulation.Tree) bool {
			_, err := along(t, sequence)
			return err != nil
		}) {
			offered = append(offered, sequence)
		}
	}
	return offered
}

// along returns the record at the end of a sequence of roles, with the action none in place of roles that a tree does
// not offer.
func along(t *simulation.Tree, sequence []string) (int, error) {
	at := -1
	return followOrRest(t, func(node int) int {
		if at++; at >= len(sequence) {
			return -1
		}
		return slices.Index(rolesOf(t, t.Nodes[node].Actions()), sequence[at])
	})
}

// followOrRest walks through a tree. Each decision takes the choice that the callback returns or, if that is negative,
// the action none. If a decision does not offer none, the error is a noSequence.
func followOrRest(t *simulation.Tree, pick func(node int) int) (record int, err error) {
	record = t.Follow(func(node int) int {
		k := pick(node)
		if k >= 0 {
			return k
		}
		if k = slices.Index(t.Nodes[node].Actions(), tables.None); k < 0 {
			err = noSequence(fmt.Sprintf("decision %d of the table does not offer the action none; simulate the "+
				"table again with this action", len(t.Nodes[node].Prefix)+1))
		}
		return max(0, k)
	})
	return record, err
}
