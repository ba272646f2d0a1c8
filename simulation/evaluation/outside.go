package evaluation

import (
	"slices"

	"graft/simulation"
)

// OutsideDecisions counts the decisions on a table in which the inputs of a policy lie outside of the range in its
// training tables, as in [decider.Structural.Outside]. It counts only decisions that the policy reaches.
type OutsideDecisions struct {
	Policy    string   `json:"chooser"`   // name of the policy
	Decisions int      `json:"decisions"` // number of decisions outside of the range, over all seeds
	Of        int      `json:"of"`        // total number of decisions, over all seeds
	Inputs    []string `json:"inputs"`    // names of the inputs outside of the range, sorted
}

// add counts the decisions of a policy on the way to a record.
func (o *OutsideDecisions) add(t *simulation.Tree, p Policy, record int) {
	f, ok := p.(follower)
	if !ok || f.outside == nil {
		return
	}
	sequence := t.Records[record].Sequence
	t.Follow(func(node int) int {
		n := t.Nodes[node]
		o.Of++
		names := f.outside(n.Situation)
		if len(names) > 0 {
			o.Decisions++
		}
		o.Inputs = append(o.Inputs, names...)
		return slices.Index(n.Actions(), sequence[len(n.Prefix)])
	})
	slices.Sort(o.Inputs)
	o.Inputs = slices.Compact(o.Inputs)
}
