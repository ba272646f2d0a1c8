package net2net

import (
	"cmp"
	"fmt"
	"slices"

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

// SplitRule returns the rule of the options. It is empty if new units are not copies.
func (o Options) SplitRule() SplitRule {
	if o.Start.NeedsData() {
		return ""
	}
	return cmp.Or(o.Split, SplitPartition)
}

// recordSplit records the rule of a widening.
func (c *Change) recordSplit(o Options) {
	if c.Action.Kind == widening.kind {
		c.Split = o.SplitRule()
	}
}

// recordedSplit returns the rule of a recorded change. Records of earlier versions have no rule: it depended on the
// network.
func (c *Change) recordedSplit(n *model.Network) SplitRule {
	switch {
	case c.Action.Kind != widening.kind || c.Start.NeedsData():
		return ""
	case n.Graph != nil && !c.Equal:
		return cmp.Or(c.Split, SplitShares)
	}
	return cmp.Or(c.Split, SplitEqual)
}

// CheckCopies returns an error if a network cannot have the options for copies.
func (o Options) CheckCopies(n *model.Network) error {
	switch {
	case !slices.Contains(SplitRules(), o.Split):
		return fmt.Errorf("split is %q; expected one of: %v", o.Split, SplitRules()[1:])
	case n.Graph == nil && o.Split == SplitShares:
		return fmt.Errorf("split is %q, which needs a network that runs as a graph of operators; use %q or %q", o.Split,
			SplitPartition, SplitEqual)
	case n.Graph != nil && o.Noise > 0:
		return fmt.Errorf("noise is %v, but it applies only to networks of layers, and this network runs as a graph "+
			"of operators; remove noise; copies learn differently with split = %q", o.Noise, SplitPartition)
	}
	return nil
}
