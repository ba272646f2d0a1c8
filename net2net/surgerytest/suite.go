// Package surgerytest is the conformance suite of network surgery. It runs every operation on random networks with
// all kinds of layers. It checks that the function is kept in both modes and both precisions, that reverting restores
// the first network exactly, that records can be replayed, and that the optimizer's state follows. A failing network
// shrinks to a small network.
package surgerytest

import (
	"encoding/json"
	"math"
	"slices"

	"pgregory.net/rapid"

	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/tracing"
)

// Tolerances, relative to the largest logit and at least to 1.
const (
	// Eval32 and Eval64 limit the drift in eval mode for each precision.
	Eval32 = 1e-5
	Eval64 = 1e-10
	// Train limits the drift in train mode on the calibration batch.
	Train = 1e-4
	// Fresh limits the drift in train mode on other batches, as a relative L2 norm, after a batch normalisation was
	// calibrated.
	Fresh = 0.05
)

// Case is a random network with weights and inputs.
type Case struct {
	t     *rapid.T
	s     *torch.Scope
	net   *model.Network
	batch *torch.Tensor // for calibration
	fresh *torch.Tensor // another similar batch
	split net2net.SplitRule
}

// Number of examples in a batch. Batches have more examples if a batch normalisation would otherwise be calibrated on
// fewer values per channel than this: the statistics of two batches differ by the inverse root of that number, here
// 1.6%.
const (
	fewest = 32
	values = 4096
)

// rowsFor returns the batch size for an operation.
func rowsFor(t *rapid.T, n *model.Network, a net2net.Action) int {
	trace, err := tracing.Read(n)
	must(t, err)
	b, err := trace.Block(a.Target)
	if err != nil || b.Norm() == nil || a.Kind != "deepen" {
		return fewest
	}
	return max(fewest, values*b.Out.Shape[0]/b.Out.Shape.Count())
}

// Check draws a network and checks all guarantees of an operation that fits the network. The callback chooses the
// operation. Check returns false if no operation fits the network.
func Check(t *rapid.T, propose func(*rapid.T, *model.Network) (net2net.Action, bool)) bool {
	n := Network(t)
	if err := n.Check(); err != nil {
		t.Fatalf("generated a network that cannot run: %v\n%s", err, n)
	}
	action, ok := propose(t, n)
	if !ok {
		return false
	}
	split := splitRule(t)
	for _, dtype := range []torch.DType{torch.Float32, torch.Float64} {
		err := torch.With(func(s *torch.Scope) error {
			c := prepare(t, s, n, dtype, rowsFor(t, n, action))
			c.split = split
			c.run(action)
			return s.Err()
		})
		if err != nil {
			t.Fatalf("%s in %v: %v\n%s", action, dtype, err, n)
		}
	}
	return true
}

// splitRule draws a rule that fits networks of layers.
func splitRule(t *rapid.T) net2net.SplitRule {
	return rapid.SampledFrom([]net2net.SplitRule{"", net2net.SplitEqual, net2net.SplitPartition}).Draw(t, "split")
}

// prepare gives a network weights and statistics like a trained network's.
func prepare(t *rapid.T, s *torch.Scope, drawn *model.Network, dtype torch.DType, rows int) *Case {
	n := drawn.Sketch()
	random := s.NewGenerator(torch.CPU, 7)
	must(t, n.Materialize(s, model.Placement{DType: dtype, Random: random}))
	for _, e := range n.State() {
		if e.Slot.Role == model.Scale || e.Slot.Role == model.Var {
			s.Copy(e.Tensor, uniform(s, random, 0.5, 1.5, dtype, e.Slot.Shape...))
		}
		if e.Slot.Role == model.Mean || e.Slot.Role == model.Bias {
			s.Copy(e.Tensor, uniform(s, random, -0.2, 0.2, dtype, e.Slot.Shape...))
		}
	}
	shape := append([]int{rows}, n.Input...)
	return &Case{t: t, s: s, net: n, batch: uniform(s, random, -2, 2, dtype, shape...),
		fresh: uniform(s, random, -2, 2, dtype, shape...)}
}

func uniform(s *torch.Scope, random *torch.Generator, low, high float64, dtype torch.DType,
	shape ...int) *torch.Tensor {
	x := s.Zeros(torch.Float32, torch.CPU, shape...)
	s.Uniform(x, low, high, random)
	return s.To(x, dtype, torch.CPU)
}

func must(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// outputs holds the logits in both modes.
type outputs struct{ eval, train, fresh []float64 }

// look runs a network on both batches.
func (c *Case) look(n *model.Network) outputs {
	run := func(inputs *torch.Tensor, training bool) []float64 {
		values, err := net2net.Logits(n, inputs, training)
		must(c.t, err)
		return values
	}
	return outputs{eval: run(c.fresh, false), train: run(c.batch, true), fresh: run(c.fresh, true)}
}

func (c *Case) values(s *torch.Scope, x *torch.Tensor) []float64 {
	values, err := torch.Values[float64](s.To(x, torch.Float64, torch.CPU))
	must(c.t, s.Err())
	must(c.t, err)
	return values
}

func (c *Case) run(action net2net.Action) {
	optimizer, err := net2net.NewOptimizer(c.s, c.net, torch.OptimizerOptions{Rule: torch.Adam, LR: 1e-3})
	must(c.t, err)
	c.step(c.net, optimizer) // creates moments to follow
	gradients := c.gradients(c.net)
	first, err := c.net.Clone(c.s)
	must(c.t, err)
	before := c.look(c.net)
	twins := c.twins(optimizer, 3)

	change, err := net2net.Apply(c.net, action, net2net.Options{Batch: c.batch, Seed: 3, Split: c.split})
	if err != nil {
		c.t.Fatalf("%s: %v\n%s", action, err, c.net)
	}
	c.compare(action.String(), before, c.look(c.net), change)
	c.whole(change, first)
	c.replay(change, first)

	optimizer, err = optimizer.Follow(c.s, c.net, change, net2net.Following{})
	must(c.t, err)
	c.followed(optimizer)
	c.states(twins, change)
	c.flows(gradients, change)
	grown, err := c.net.Clone(c.s)
	must(c.t, err)

	back, err := net2net.Revert(c.net, change)
	if err != nil {
		c.t.Fatalf("reverting %s: %v\n%s", action, err, c.net)
	}
	c.same("reverting "+action.String(), first, c.net)
	optimizer, err = optimizer.Follow(c.s, c.net, back, net2net.Following{})
	must(c.t, err)
	c.followed(optimizer)
	c.step(c.net, optimizer)
	c.learns(grown)
}

// Compose generates a random network, applies several operations in turn, and reverts them. Each intermediate network
// must be restored exactly.
func Compose(t *rapid.T) {
	n := Network(t)
	must(t, torch.With(func(s *torch.Scope) error {
		c := prepare(t, s, n, torch.Float64, fewest)
		stages := []*model.Network{}
		var record []*net2net.Change
		before := c.look(c.net)
		for range rapid.IntRange(2, 4).Draw(t, "operations") {
			action, ok := Any(net2net.Kinds()...)(t, c.net)
			if !ok {
				break
			}
			stage, err := c.net.Clone(s)
			must(t, err)
			change, err := net2net.Apply(c.net, action,
				net2net.Options{Batch: c.batch, Seed: uint64(len(record)), Split: splitRule(t)})
			if err != nil {
				t.Fatalf("%s after %d changes: %v\n%s", action, len(record), err, c.net)
			}
			stages, record = append(stages, stage), append(record, change)
		}
		after := c.look(c.net)
		c.near("several operations in eval mode", before.eval, after.eval, Eval64)
		c.near("several operations in train mode", before.train, after.train, 1e-8)
		for keep := len(record) - 1; keep >= 0; keep-- {
			_, err := net2net.Shrink(c.net, record[:keep+1], keep)
			must(t, err)
			c.same("reverting "+record[keep].Action.String(), stages[keep], c.net)
		}
		return s.Err()
	}))
}

// compare checks the logits against the tolerances.
func (c *Case) compare(what string, before, after outputs, change *net2net.Change) {
	tolerance, train := Eval32, Train
	if c.net.Placement().DType == torch.Float64 {
		tolerance, train = Eval64, 1e-9
	}
	c.near(what+" in eval mode", before.eval, after.eval, tolerance)
	c.near(what+" in train mode", before.train, after.train, train)
	if change.Calibration == nil {
		c.near(what+" in train mode on a fresh batch", before.fresh, after.fresh, train)
	} else if l2 := net2net.DriftBetween(before.fresh, after.fresh).L2; !(l2 <= Fresh) {
		c.t.Fatalf("%s in train mode on a fresh batch: relative L2 change is %.3g; must be at most %g\n%s", what, l2,
			Fresh, c.net)
	}
}

func (c *Case) near(what string, a, b []float64, tolerance float64) {
	if d := net2net.DriftBetween(a, b); !(d.Relative <= tolerance) {
		c.t.Fatalf("%s: values change by up to %.3g, which is %.3g relative to the largest; must be at most %g\n%s",
			what, d.Largest, d.Relative, tolerance, c.net)
	}
}

// whole checks that shapes match the layers, that the record lists every tensor once, and that kept tensors are equal
// to the bit.
func (c *Case) whole(change *net2net.Change, first *model.Network) {
	was := map[string]*torch.Tensor{}
	for _, e := range first.State() {
		was[e.Name] = e.Tensor
	}
	state := c.net.State()
	if len(change.Moves) != len(state) {
		c.t.Fatalf("%s: got %d moves for %d tensors", change.Action, len(change.Moves), len(state))
	}
	for k, e := range state {
		m := change.Moves[k]
		info, err := e.Tensor.Info()
		must(c.t, err)
		if m.Name != e.Name || !slices.Equal(info.Shape, e.Slot.Shape) && len(info.Shape) > 0 ||
			info.RequiresGrad != e.Slot.Role.Trained() {
			c.t.Fatalf("%s: %s of shape %v is %v in the layer, %q in the record", change.Action, e.Name, info.Shape,
				e.Slot.Shape, m.Name)
		}
		if (m.Fate == net2net.New) != (m.From == "") || m.From != "" && was[m.From] == nil {
			c.t.Fatalf("%s: %s is %s from %q", change.Action, m.Name, m.Fate, m.From)
		}
		if m.Fate == net2net.Kept {
			c.equal(change.Action.String()+" keeps "+m.Name, was[m.From], e.Tensor)
		}
	}
	for _, name := range change.Gone {
		if was[name] == nil {
			c.t.Fatalf("%s: %s is listed as removed, but it never existed", change.Action, name)
		}
	}
}

func (c *Case) equal(what string, a, b *torch.Tensor) {
	x, err := a.Bytes()
	must(c.t, err)
	y, err := b.Bytes()
	must(c.t, err)
	if !slices.Equal(x, y) {
		c.t.Fatalf("%s: the values differ\n%s", what, c.net)
	}
}

func (c *Case) same(what string, a, b *model.Network) {
	if a.String() != b.String() {
		c.t.Fatalf("%s results in\n%s\nexpected\n%s", what, b, a)
	}
	other := b.State()
	for k, e := range a.State() {
		c.equal(what+", "+e.Name, e.Tensor, other[k].Tensor)
	}
	x, y := c.look(a), c.look(b)
	if !slices.Equal(x.eval, y.eval) || !slices.Equal(x.train, y.train) {
		c.t.Fatalf("%s changes the logits\n%s", what, a)
	}
}

// replay repeats a saved record on a copy of the first network.
func (c *Case) replay(change *net2net.Change, first *model.Network) {
	must(c.t, change.Remember(c.net))
	text, err := json.Marshal(change)
	must(c.t, err)
	var saved net2net.Change
	must(c.t, json.Unmarshal(text, &saved))
	twin, err := first.Clone(c.s)
	must(c.t, err)
	again, err := net2net.Replay(twin, &saved, net2net.Options{})
	must(c.t, err)
	c.same("the replay of "+change.Action.String(), c.net, twin)
	must(c.t, again.Remember(twin))
	if other, _ := json.Marshal(again); string(other) != string(text) {
		c.t.Fatalf("the record of the replay is\n%s\nexpected\n%s", other, text)
	}
}

// step trains one batch.
func (c *Case) step(n *model.Network, o *net2net.Optimizer) {
	rows := c.batch.Shape()[0]
	labels := make([]int64, rows)
	for k := range labels {
		labels[k] = int64(k % Classes)
	}
	p, err := n.Program(c.s, torch.ProgramOptions{})
	must(c.t, err)
	defer p.Close()
	figures, err := torch.Train(p, o.Optimizer, torch.Batches{Inputs: c.batch, Labels: torch.From(c.s, labels, rows),
		Size: rows})
	must(c.t, err)
	if math.IsNaN(figures.Losses[0]) || math.IsInf(figures.Losses[0], 0) {
		c.t.Fatalf("the loss is %v\n%s", figures.Losses[0], n)
	}
}

// gradients returns an optimizer whose first moments are the gradients on the batch.
func (c *Case) gradients(n *model.Network) *net2net.Optimizer {
	o, err := net2net.NewOptimizer(c.s, n, torch.OptimizerOptions{Rule: torch.SGD, Momentum: 0.9})
	must(c.t, err)
	c.step(n, o) // at a rate of zero only running statistics change
	return o
}

// flows checks that moments follow parameters as gradients do: a momentum of gradients becomes the gradients of the new
// network. New parameters have none to follow; a calibrated normalisation changes the gradients before it, and the
// gradients of copies differ if weights are partitioned.
func (c *Case) flows(before *net2net.Optimizer, change *net2net.Change) {
	partitioned := len(change.Units) > 0 && c.split != net2net.SplitEqual
	if change.Calibration != nil || partitioned || c.net.Placement().DType != torch.Float64 {
		return
	}
	followed, err := before.Follow(c.s, c.net, change, net2net.Following{})
	must(c.t, err)
	twin, err := c.net.Clone(c.s) // a step changes running statistics
	must(c.t, err)
	want := c.gradients(twin)
	fates := map[string]net2net.Fate{}
	for _, m := range change.Moves {
		fates[m.Name] = m.Fate
	}
	for k, name := range want.Names {
		if fates[name] != net2net.New && fates[name] != net2net.Padded {
			c.near("the momentum of "+name, c.values(c.s, want.Slots[k].First),
				c.values(c.s, followed.Slots[k].First), 1e-7)
		}
	}
}

// learns takes a step on the grown network and checks its gradients.
func (c *Case) learns(n *model.Network) {
	o, err := net2net.NewOptimizer(c.s, n, torch.OptimizerOptions{Rule: torch.SGD, LR: 1e-3})
	must(c.t, err)
	c.step(n, o)
	for _, e := range n.Trained() {
		for _, v := range c.values(c.s, c.s.Grad(e.Tensor)) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				c.t.Fatalf("the gradient of %s contains %v\n%s", e.Name, v, n)
			}
		}
	}
}

// followed checks that every parameter has moments of its own shape.
func (c *Case) followed(o *net2net.Optimizer) {
	trained := c.net.Trained()
	if len(o.Slots) != len(trained) {
		c.t.Fatalf("got %d parameters and %d slots; expected equal numbers", len(trained), len(o.Slots))
	}
	for k, e := range trained {
		slot := o.Slots[k]
		if o.Names[k] != e.Name || slot.Param != e.Tensor {
			c.t.Fatalf("slot %d belongs to %s, expected %s", k, o.Names[k], e.Name)
		}
		if !slices.Equal(slot.First.Shape(), e.Slot.Shape) || !slices.Equal(slot.Second.Shape(), e.Slot.Shape) {
			c.t.Fatalf("%s %v has moments %v and %v", e.Name, e.Slot.Shape, slot.First.Shape(), slot.Second.Shape())
		}
		for _, v := range c.values(c.s, slot.Second) {
			if v < 0 || math.IsNaN(v) {
				c.t.Fatalf("the second moment of %s contains %v", e.Name, v)
			}
		}
	}
}

// Any returns a callback for [Check]. The callback draws one of the actions that net2net.Proposals returns for the
// network, among actions of the given kinds.
func Any(kinds ...net2net.Kind) func(*rapid.T, *model.Network) (net2net.Action, bool) {
	return func(t *rapid.T, n *model.Network) (net2net.Action, bool) {
		actions, err := net2net.Proposals(n)
		must(t, err)
		actions = slices.DeleteFunc(actions, func(a net2net.Action) bool { return !slices.Contains(kinds, a.Kind) })
		if len(actions) == 0 {
			return net2net.Action{}, false
		}
		a := rapid.SampledFrom(actions).Draw(t, "action")
		return a, true
	}
}
