package net2net

import (
	"cmp"
	"fmt"

	"graft/model"
)

// SplitRule names the division of the weights that read a unit among the copies of the unit.
type SplitRule string

// Rules for the division of weights. The zero SplitRule is SplitPartition.
const (
	SplitPartition SplitRule = "partition"
	SplitShares    SplitRule = "shares"
	SplitEqual     SplitRule = "equal"
)

// SplitRules lists all rules.
func SplitRules() []SplitRule { return []SplitRule{"", SplitPartition, SplitShares, SplitEqual} }

// divided records the rule of a change that makes copies.
func (c *Change) divided(o Options) {
	if c.Action.Kind == widening.kind && !o.Start.NeedsData() {
		c.Split = cmp.Or(o.Split, SplitPartition)
	}
}

// splitOf returns the rule of a recorded change. Records of earlier versions have no rule: it depended on the network.
func (c *Change) splitOf(n *model.Network) SplitRule {
	switch {
	case c.Action.Kind != widening.kind || c.Start.NeedsData():
		return ""
	case n.Graph != nil && !c.Equal:
		return cmp.Or(c.Split, SplitShares)
	}
	return cmp.Or(c.Split, SplitEqual)
}

// splittable checks the options for copies in a network.
func (o Options) splittable(n *model.Network) error {
	switch {
	case n.Graph == nil && o.Split == SplitShares:
		return fmt.Errorf("split is %q, which needs a network that runs as a graph of operators; use %q or %q", o.Split,
			SplitPartition, SplitEqual)
	case n.Graph != nil && o.Noise > 0:
		return fmt.Errorf("noise is %v, but it applies only to networks of layers, and this network runs as a graph "+
			"of operators; remove noise; copies learn differently with split = %q", o.Noise, SplitPartition)
	}
	return nil
}
