package net2net

import (
	"errors"
	"fmt"
	"slices"

	"graft/model"
	"graft/model/graph"
	"graft/net2net/rewrite"
	"graft/net2net/starts"
	"graft/torch"
	"graft/tracing/axes"
)

// startGraph plans a wider axis of a graph, with new units that start as the options state. A network without weights
// changes only its shapes.
func startGraph(n *model.Network, read *axes.Axes, axis *axes.Term, to int, o Options) (*rewrite.Plan, error) {
	c, err := rewrite.FindChain(read, axis)
	if err != nil {
		return nil, o.refused("%w", err)
	}
	g := &grownUnits{units: mappingOf(axis.Size, slices.Repeat([]int{-1}, max(0, to-axis.Size)))}
	if o.replay == nil && n.Scope() != nil && to > axis.Size {
		err = onTwin(n, o, func(s *torch.Scope, twin *model.Network) error {
			segment, err := o.graphSegment(s, twin, c)
			if err != nil {
				return err
			}
			eps := 0.0
			if c.Norm != nil {
				eps, _ = c.Norm.Arg("eps").(float64)
			}
			g, err = o.units(s, segment, axis.Size, to, eps)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if o.replay != nil && o.replay.Graph != nil {
		g.units = o.replay.Units
	}
	plan, err := rewrite.Widen(read, axis, to, rewrite.Options{Seed: o.Seed, From: g.units})
	if err != nil {
		return nil, err
	}
	plan.Units, plan.Notes = g.units, slices.Concat(plan.Notes, g.notes)
	if o.replay != nil {
		return plan, repeatGraph(n, plan, o.replay)
	}
	addGraph(plan, c, g)
	return plan, nil
}

// repeatGraph takes the new units from a record.
func repeatGraph(n *model.Network, plan *rewrite.Plan, record *Change) error {
	if record.Graph == nil {
		return errors.New("the record has no plan of a graph")
	}
	plan.Notes = record.Graph.Notes
	found := false
	for k := range plan.Moves {
		at := slices.IndexFunc(record.Graph.Moves, func(m rewrite.Move) bool { return m.Name == plan.Moves[k].Name })
		if at >= 0 {
			plan.Moves[k].Added = record.Graph.Moves[at].Added
			found = found || plan.Moves[k].Added != nil
		}
	}
	if !found && n.Scope() != nil {
		return errors.New("the record has no weights of new units; it was made from a network without weights")
	}
	return nil
}

// addGraph assigns values to the tensors of the operators.
func addGraph(plan *rewrite.Plan, c *rewrite.Chain, g *grownUnits) {
	set := func(n *graph.Node, argument string, values []rewrite.Added) {
		name, ok := n.Arg(argument).(graph.Weight)
		if !ok || values == nil {
			return
		}
		for k := range plan.Moves {
			if plan.Moves[k].Name == string(name) {
				plan.Moves[k].Added = values
			}
		}
	}
	set(c.Producer, "weight", g.weight)
	set(c.Producer, "bias", g.bias)
	set(c.Consumer, "weight", g.next)
	if c.Norm != nil {
		set(c.Norm, "weight", g.scale)
		set(c.Norm, "bias", g.shift)
		set(c.Norm, "running_mean", g.mean)
		set(c.Norm, "running_var", g.deviation)
	}
}

// graphSegment measures the operators of a chain on a copy of the network.
func (o Options) graphSegment(s *torch.Scope, n *model.Network, c *rewrite.Chain) (*starts.Segment, error) {
	bound, err := n.Graph.BindTensors(s, n.Tensors())
	if err != nil {
		return nil, err
	}
	for _, e := range n.Trained() {
		s.RequireGrad(e.Tensor, false)
	}
	g := &starts.Segment{Normed: c.Norm != nil}
	if g.Producer, err = operatorLayer(bound, c.Producer); err != nil {
		return nil, o.refused("%w", err)
	}
	if g.Consumer, err = operatorLayer(bound, c.Consumer); err != nil {
		return nil, o.refused("%w", err)
	}
	if len(c.Middle) > 0 {
		if g.Middle, err = n.Graph.Span(s, c.From, c.To, c.Middle); err != nil {
			return nil, err
		}
	}
	if len(c.Straight) > 0 {
		if g.Straight, err = n.Graph.Span(s, c.From, c.StraightTo, c.Straight); err != nil {
			return nil, err
		}
	}
	probe := func(v any) func() (*torch.Program, error) {
		value, _ := v.(graph.Value)
		return func() (*torch.Program, error) { return bound.Probe(s, value, "", nil) }
	}
	end := c.Consumer.Results[0]
	return g, o.measured(s, g, taps{input: probe(c.Producer.Arg("input")), hidden: probe(c.Consumer.Arg("input")),
		output:  probe(end),
		shifted: func(by *torch.Tensor) (*torch.Program, error) { return bound.Probe(s, n.Graph.Output, end, by) }})
}

// operatorLayer describes the linear layer or the convolution of a node.
func operatorLayer(n *graph.Network, node *graph.Node) (starts.Layer, error) {
	tensor := func(argument string) *torch.Tensor {
		name, _ := node.Arg(argument).(graph.Weight)
		return n.Tensor(string(name))
	}
	l := starts.Layer{Weight: tensor("weight"), Bias: tensor("bias")}
	if l.Weight == nil || l.Bias == nil && node.Arg("bias") != nil {
		return l, fmt.Errorf("the weight or the bias of %s is computed", node.Module)
	}
	if node.Operator == "conv2d.default" {
		l.Plane = &torch.Plane{Stride: pairOf(node, "stride"), Padding: pairOf(node, "padding"),
			Dilation: pairOf(node, "dilation")}
	}
	return l, nil
}

// pairOf is an argument with a number for the height and the width, or one number for both; zero if it is missing.
func pairOf(node *graph.Node, argument string) (pair [2]int) {
	switch v := node.Arg(argument).(type) {
	case int64:
		return [2]int{int(v), int(v)}
	case []any:
		for k := range pair {
			number, _ := v[min(k, len(v)-1)].(int64)
			pair[k] = int(number)
		}
	}
	return pair
}

// graphGain is the gain of a wider axis of a graph.
func (o Options) graphGain(n *model.Network, a Action) (measuredGain, error) {
	read, err := axes.Read(n.Graph)
	if err != nil {
		return nil, err
	}
	axis, err := read.Named(a.Target)
	if err != nil {
		return nil, err
	}
	if a.Size <= axis.Size {
		return nil, fmt.Errorf("the size of the axis is already %d; use a larger size", axis.Size)
	}
	c, err := rewrite.FindChain(read, axis)
	if err != nil {
		return nil, o.refused("%w", err)
	}
	return func(s *torch.Scope, twin *model.Network) (float64, error) {
		g, err := o.graphSegment(s, twin, c)
		if err != nil {
			return 0, err
		}
		return g.Gain(s, a.Size-axis.Size)
	}, nil
}
