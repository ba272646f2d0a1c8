package net2net

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"graft/model"
	"graft/model/graph"
	"graft/net2net/rewrite"
	"graft/torch"
	"graft/tracing/axes"
)

// usualSpread makes shares unequal: shares of n copies differ from 1/n by up to a quarter of 1/n.
const usualSpread = 0.5

// planGraph plans an action on a network that runs as a graph.
func planGraph(n *model.Network, a Action, o Options) (*rewrite.Plan, error) {
	read, err := axes.Read(n.Graph)
	if err != nil {
		return nil, err
	}
	switch a.Kind {
	case "deepen":
		path, err := graphBlock(read, a.Target)
		if err != nil {
			return nil, err
		}
		how, err := o.Form.branches()
		if err != nil {
			return nil, err
		}
		return rewrite.Deepen(read, path, how)
	case "widen":
		return planWider(n, read, a, o)
	}
	return nil, fmt.Errorf("a network that runs as a graph supports only deepen and widen; %s requires a "+
		"tree of layers", a.Kind)
}

// branches returns the kind of a graph's new branches.
func (f Form) branches() (rewrite.Branches, error) {
	switch f {
	case Auto, Residual:
		return rewrite.ZeroBranches, nil
	case Opposite:
		return rewrite.OppositeBranches, nil
	case Stacked:
		return rewrite.StackedBranches, nil
	}
	return "", fmt.Errorf("form is %q, which requires a tree of layers; use %q, %q or %q, "+
		"or remove the option form", f, Residual, Opposite, Stacked)
}

// groupsSuffix follows the path of a layer of keys or values in the name of its groups.
const groupsSuffix = "/groups"

func planWider(n *model.Network, read *axes.Axes, a Action, o Options) (*rewrite.Plan, error) {
	switch a.Target {
	case "vocabulary":
		return rewrite.Vocabulary(read, a.Size)
	case "context":
		return rewrite.Context(read, a.Size)
	case "untied":
		if a.Size != 0 {
			return nil, fmt.Errorf("the target \"untied\" takes no size; use widen:untied")
		}
		return rewrite.Untie(read)
	}
	if layer, ok := strings.CutSuffix(a.Target, groupsSuffix); ok {
		groups, err := rewrite.Groups(read, layer+".weight")
		if err != nil {
			return nil, err
		}
		return rewrite.Ungroup(read, groups, a.Size)
	}
	axis, err := read.Named(a.Target)
	if err != nil {
		return nil, err
	}
	if a.Size == 0 {
		return nil, fmt.Errorf("the size is missing; use, for example, widen:%s:%d", a.Target, 2*axis.Size)
	}
	if o.Start.NeedsData() {
		plan, err := startGraph(n, read, axis, a.Size, o)
		if err != nil {
			return nil, fmt.Errorf("axis %s (%s): %w", a.Target, read.Meaning(axis), err)
		}
		return plan, nil
	}
	r := rewrite.Options{Seed: o.Seed, Partition: o.SplitRule() == SplitPartition, Spread: usualSpread}
	if o.Split == SplitEqual {
		r.Spread = 0
	}
	plan, err := rewrite.Widen(read, axis, a.Size, r)
	if err != nil {
		return nil, fmt.Errorf("axis %s (%s): %w", a.Target, read.Meaning(axis), err)
	}
	return plan, nil
}

// Meaning describes the axis that an action widens in a graph of operators. The description is empty for other actions,
// and for networks without a graph.
func Meaning(n *model.Network, a Action) string {
	if n.Graph == nil || a.Kind != "widen" {
		return ""
	}
	read, err := axes.Read(n.Graph)
	if err != nil {
		return ""
	}
	axis, err := read.Named(a.Target)
	if err != nil {
		return "" // such as vocabulary, which names itself
	}
	return read.Meaning(axis)
}

// graphBlock returns the path of a block, given its path or its number. A path may be a number too, and comes first.
func graphBlock(read *axes.Axes, target string) (string, error) {
	number, err := strconv.Atoi(target)
	if err != nil {
		return target, nil
	}
	blocks, _ := rewrite.Blocks(read)
	if slices.ContainsFunc(blocks, func(b rewrite.Block) bool { return b.Path == target }) {
		return target, nil
	}
	if number < 0 || number >= len(blocks) {
		return "", fmt.Errorf("block %d not found; the network has %d repeatable blocks", number, len(blocks))
	}
	return blocks[number].Path, nil
}

// applyGraph executes an action on a graph.
func applyGraph(n *model.Network, a Action, o Options) (*Change, error) {
	c := &Change{Action: a, Seed: o.Seed, Form: o.Form, Before: Fingerprint(n)}
	c.started(o)
	c.recordSplit(o)
	if a.Kind == None {
		c.After = c.Before
		return c, c.adoptPlan(n, nil)
	}
	if err := a.validate(); err != nil {
		return nil, err
	}
	plan, err := planGraph(n, a, o)
	if err != nil {
		return nil, err
	}
	plan.Was, c.Units = n.Graph.Form().Plain(), plan.Units
	return c, c.adoptPlan(n, plan)
}

// adoptPlan changes the network and records the origins of its tensors.
func (c *Change) adoptPlan(n *model.Network, p *rewrite.Plan) error {
	if p == nil {
		for _, e := range n.State() {
			c.Moves = append(c.Moves, Move{Name: e.Name, From: e.Name, Fate: Kept})
		}
		return nil
	}
	before := n.State()
	if n.Scope() == nil {
		n.Rebuild(p.Graph, nil)
	} else if err := rebuild(n, p); err != nil {
		return err
	}
	c.Graph, c.Notes, c.After = p, slices.Concat(c.Notes, p.Notes), Fingerprint(n)
	c.moved(p, before)
	return nil
}

// rebuild gives the network the graph and the tensors of a plan.
func rebuild(n *model.Network, p *rewrite.Plan) error {
	return torch.With(func(s *torch.Scope) error {
		old := n.Tensors()
		tensors, err := p.Apply(s, old)
		if err != nil {
			return err
		}
		had := map[*torch.Tensor]bool{}
		for _, t := range old {
			had[t] = true
		}
		for _, t := range p.Graph.Tensors {
			if tensor := tensors[t.Name]; t.Tied == "" && !had[tensor] {
				s.Keep(n.Scope(), s.RequireGrad(tensor, t.Role == graph.Parameter))
			}
			delete(had, tensors[t.Name])
		}
		if s.Err() != nil {
			return s.Err()
		}
		n.Rebuild(p.Graph, tensors)
		for t := range had {
			n.Scope().Free(t)
		}
		return n.Scope().Err()
	})
}

// moved records the origin of each tensor, and the removed ones.
func (c *Change) moved(p *rewrite.Plan, before []model.Entry) {
	used := map[string]bool{}
	c.Moves = nil
	for _, m := range p.Moves {
		move := Move{Name: m.Name, From: m.From, Fate: Kept}
		switch {
		case m.Fresh || m.Values != "":
			move = Move{Name: m.Name, Fate: New, How: "copy", Donor: m.From}
			if m.Values != "" {
				move.How = m.Values
			}
		case len(m.Dims) > 0:
			move.Fate = Copied
			if slices.ContainsFunc(m.Dims, func(d rewrite.Dim) bool { return d.Split }) {
				move.Fate = Split
			}
			if m.Dims[0].Merge {
				move.Fate = Merged
			}
		case used[m.From]:
			move.Fate = Copied
		}
		used[move.From] = true
		c.Moves = append(c.Moves, move)
	}
	for _, e := range before {
		if e.Slot.Tied == "" && !used[e.Name] {
			c.Gone = append(c.Gone, e.Name)
		}
	}
}

// revertGraph undoes a change of a graph.
func revertGraph(n *model.Network, c *Change) (*Change, error) {
	back := &Change{Action: c.Action, Before: Fingerprint(n)}
	if !c.grew() || c.Graph == nil {
		back.After = back.Before
		return back, back.adoptPlan(n, nil)
	}
	plan := *c.Graph
	plan.Graph = n.Graph
	var err error
	if plan.Before, err = graph.FromForm(plan.Was); err != nil {
		return nil, fmt.Errorf("read the record's graph: %w", err)
	}
	reverse, err := plan.Reverse()
	if err != nil {
		return nil, err
	}
	return back, back.adoptPlan(n, reverse)
}

// readGraph is read for a network that runs as a graph, whose change has a plan.
func (f *follower) readGraph(e model.Entry) (p followed, err error) {
	plan := f.change.Graph
	at := slices.IndexFunc(plan.Moves, func(m rewrite.Move) bool { return m.Name == e.Name })
	if at < 0 {
		return p, fmt.Errorf("the surgery record has no tensor %s", e.Name)
	}
	m := plan.Moves[at]
	p.lineage = graphLineage(plan, at)
	if isFresh(m) {
		return f.begun(p, e, m.From), nil
	}
	return f.carried(p, m.From, func(slot torch.Slot) (*torch.Tensor, *torch.Tensor) {
		return plan.Moments(f.s, m, slot.First, 1), plan.Moments(f.s, m, slot.Second, 2)
	})
}

// proposeGraph lists the actions that fit a graph: each block deeper, each axis half as wide again. Actions whose new
// weights would all be frozen are left out, because training could not use them. A form that graphs do not support is
// refused when an action is applied; until then, the default form replaces it.
func proposeGraph(g *graph.Graph, form Form) ([]Action, error) {
	read, err := axes.Read(g)
	if err != nil {
		return nil, err
	}
	how, err := form.branches()
	if err != nil {
		how = rewrite.ZeroBranches
	}
	var actions []Action
	blocks, _ := rewrite.Blocks(read)
	for _, b := range blocks {
		if p, err := rewrite.Deepen(read, b.Path, how); err == nil && !addsFrozen(p) {
			actions = append(actions, Action{Kind: "deepen", Target: b.Path})
		}
	}
	for _, axis := range read.List() {
		name := read.Name(axis)
		if axis.Fixed != "" || name == "" {
			continue
		}
		for _, to := range []int{axis.Size + (axis.Size+1)/2, 2 * axis.Size} {
			if p, err := rewrite.Widen(read, axis, to, rewrite.Options{}); err == nil {
				if !addsFrozen(p) {
					actions = append(actions, Action{Kind: "widen", Target: name, Size: to})
				}
				break
			}
		}
	}
	return actions, nil
}

// addsFrozen reports whether no tensor that computes the new units or branches of a plan is trained. Frozen parameters
// are buffers. Layers that sum over new units can be trained, but the units would stay copies of the old ones.
func addsFrozen(p *rewrite.Plan) bool {
	frozen := false
	for _, m := range p.Moves {
		if m.Values != "zeros" && !slices.ContainsFunc(m.Dims, func(d rewrite.Dim) bool { return !d.Split }) {
			continue
		}
		switch p.Graph.Tensor(m.Name).Role {
		case graph.Parameter:
			return false
		case graph.Buffer:
			frozen = true
		}
	}
	return frozen
}
