package net2net

import (
	"cmp"
	"fmt"

	"graft/model"
)

// SplitRule names the division of the weights that read a unit among the copies of the unit.
type SplitRule string

// Rules for the division of weights. The zero SplitRule is a default that depends on the network; see [Options].
const (
	SplitPartition SplitRule = "partition"
	SplitShares    SplitRule = "shares"
	SplitEqual     SplitRule = "equal"
)

// SplitRules lists all rules.
func SplitRules() []SplitRule { return []SplitRule{"", SplitPartition, SplitShares, SplitEqual} }

// rule returns the rule for a network. Records without a rule come from versions whose rule depended on the network.
func (r SplitRule) rule(n *model.Network, equal bool) SplitRule {
	if n.Graph != nil && !equal {
		return cmp.Or(r, SplitShares)
	}
	return cmp.Or(r, SplitEqual)
}

// splittable checks the options for copies in a network.
func (o Options) splittable(n *model.Network) error {
	switch {
	case n.Graph == nil && o.Split == SplitShares:
		return fmt.Errorf("split is %q, which needs a network that runs as a graph of operators; use %q or %q", o.Split,
			SplitPartition, SplitEqual)
	case n.Graph != nil && o.Noise > 0:
		return fmt.Errorf("noise is %v, but it applies only to networks of layers, and this network runs as a graph of "+
			"operators; remove noise, and use split = %q so that copies learn differently", o.Noise, SplitPartition)
	}
	return nil
}
