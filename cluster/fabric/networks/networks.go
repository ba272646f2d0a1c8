// Package networks creates graphs of operations from networks that graft trains.
package networks

import (
	"fmt"
	"slices"
	"strings"

	"graft/cluster/fabric/graph"
	"graft/model"
	"graft/trainer/clock"
)

// Options holds the options for converting a neural network to a graph. The zero value is invalid: a profile is
// required.
type Options struct {
	Batch   int            // examples per step; zero means 64
	Profile *clock.Profile // profile of the device that runs the network
}

// maxBatch is the maximum number of examples per step.
const maxBatch = 1 << 20

// valueBytes is the size of a value: networks compute in float32.
const valueBytes = 4

// Profile creates the profile of a neural network: a node for the input, for each layer in execution order, and for
// each sum and concatenation. A layer that runs twice has two nodes; the first node holds the layer's parameters. Step
// times come from the device's profile, whose measured operators or rates also determine how a step time is divided
// among the layers. The backward time includes the optimizer.
func Profile(n *model.Network, o Options) (*graph.Profile, error) {
	if o.Batch == 0 {
		o.Batch = 64
	}
	if o.Batch < 1 || o.Batch > maxBatch {
		return nil, fmt.Errorf("create a graph of %s: batch is %d; expected 1 to %d", n.Name(), o.Batch, maxBatch)
	}
	times, err := o.Profile.LayerTimes(n, o.Batch)
	if err != nil {
		return nil, fmt.Errorf("create a graph of %s: %w", n.Name(), err)
	}
	b := builder{batch: float64(o.Batch), times: times, seen: map[*model.Leaf]bool{}}
	b.profile.Model = n.Name()
	if _, err := model.Run(n, b.node("Input", fmt.Sprint(n.Input), n.Input, b.next()), &b); err != nil {
		return nil, fmt.Errorf("create a graph of %s: %w", n.Name(), err)
	}
	return &b.profile, b.profile.Validate()
}

// value is a tensor: the index of its producer, and its shape.
type value struct {
	node  int
	shape model.Shape
}

// builder is the algebra of operations.
type builder struct {
	profile graph.Profile
	batch   float64
	times   []clock.LayerTime // times of the remaining layers
	seen    map[*model.Leaf]bool
}

// next returns the times of the next layer.
func (b *builder) next() (t clock.LayerTime) {
	t, b.times = b.times[0], b.times[1:]
	return t
}

// node adds an operation with its inputs.
func (b *builder) node(kind, detail string, out model.Shape, time clock.LayerTime, from ...value) value {
	at, edges := len(b.profile.Nodes), 0
	b.profile.Nodes = append(b.profile.Nodes, graph.Node{
		ID: at + 1, Kind: kind, Detail: detail, Forward: 1000 * time.Forward,
		Backward: 1000 * max(0, time.Step-time.Forward), Activation: b.batch * valueBytes * float64(out.Count()),
	})
	for _, v := range from {
		if edge := [2]int{v.node, at}; !slices.Contains(b.profile.Edges[len(b.profile.Edges)-edges:], edge) {
			b.profile.Edges = append(b.profile.Edges, edge)
			edges++
		}
	}
	return value{at, out}
}

// Layer adds a node for a layer of the network.
func (b *builder) Layer(at model.Place, leaf *model.Leaf, in value) (value, error) {
	out, err := leaf.Layer.Infer(in.shape)
	if err != nil {
		return value{}, err
	}
	kind, _, _ := strings.Cut(leaf.Layer.String(), "(")
	v := b.node(kind, at.Path, out, b.next(), in)
	if !b.seen[leaf] {
		trained, _ := model.Counts(leaf.Layer)
		b.profile.Nodes[v.node].Parameters = valueBytes * float64(trained)
		b.seen[leaf] = true
	}
	return v, nil
}

// Sum adds a node for the addition at the end of a residual block.
func (b *builder) Sum(path string, body, shortcut value) (value, error) {
	return b.node("Add", path, body.shape, clock.LayerTime{}, body, shortcut), nil
}

// Cat adds a node for the concatenation of parallel branches.
func (b *builder) Cat(path string, parts []value) (value, error) {
	out := append(model.Shape{0}, parts[0].shape[1:]...)
	for _, p := range parts {
		out[0] += p.shape[0]
	}
	return b.node("Concat", path, out, clock.LayerTime{}, parts...), nil
}
