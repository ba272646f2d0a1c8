package net2net_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/stat"
	"graft/model"
	"graft/model/transformer"
	"graft/net2net"
	"graft/torch"
)

// Under Adam, copies of units learn the same as their originals if weights are divided by shares. They learn something
// else if weights are partitioned.
func TestCopiesSeparate(t *testing.T) {
	const alike, apart = 0.98, 0.9
	for _, rule := range []net2net.SplitRule{net2net.SplitEqual, net2net.SplitPartition} {
		likeness := 0.0
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			l := newLearner(t, s, 1)
			l.train(60, func() {})
			c := l.operate("widen:conv1.layers.0:12", net2net.Options{Seed: 1, Split: rule})
			l.follow(c)
			likeness = likenessOf(t, s, l.net.State()[0].Tensor, c.Units, func() { l.train(60, func() {}) })
			return nil
		}))
		require.Equal(t, rule == net2net.SplitEqual, likeness > alike, "%s in layers: %v", rule, likeness)
		require.Equal(t, rule == net2net.SplitPartition, likeness < apart, "%s in layers: %v", rule, likeness)
	}
	for _, rule := range []net2net.SplitRule{net2net.SplitEqual, net2net.SplitShares, net2net.SplitPartition} {
		likeness := likenessInGraph(t, rule)
		require.Equal(t, rule != net2net.SplitPartition, likeness > alike, "%s in a graph: %v", rule, likeness)
		require.Equal(t, rule == net2net.SplitPartition, likeness < apart, "%s in a graph: %v", rule, likeness)
	}
}

// likenessInGraph widens a block of a transformer and returns the likeness of its copies.
func likenessInGraph(t *testing.T, rule net2net.SplitRule) (likeness float64) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n, random := smallTransformer(), s.NewGenerator(torch.CPU, 1)
		require.NoError(t, n.Materialize(s, model.Placement{Random: random}))
		o, err := net2net.NewOptimizer(s, n, torch.OptimizerOptions{Rule: torch.AdamW, LR: 3e-3})
		require.NoError(t, err)
		train := func() {
			p, err := n.Program(s, torch.ProgramOptions{})
			require.NoError(t, err)
			defer p.Close()
			x := s.Zeros(torch.Float32, torch.CPU, 64, 8)
			s.Uniform(x, 0, 11, random)
			tokens := s.To(x, torch.Int64, torch.CPU)
			for range 30 {
				_, err := torch.Train(p, o.Optimizer, torch.Batches{Inputs: tokens, Labels: tokens, Size: 8})
				require.NoError(t, err)
			}
		}
		train()
		a, err := net2net.ParseAction("widen:blocks.0.up:128")
		require.NoError(t, err)
		c, err := net2net.Apply(n, a, net2net.Options{Seed: 1, Split: rule})
		require.NoError(t, err)
		o, err = o.Follow(s, n, c, net2net.Following{})
		require.NoError(t, err)
		units := make([]int, 128)
		for k := range units {
			units[k] = k % 64
		}
		likeness = likenessOf(t, s, n.Tensors()["blocks.0.up.weight"], units, train)
		return nil
	}))
	return likeness
}

// likenessOf returns the median cosine between what copies and their originals learn in training. Both start with equal
// incoming weights.
func likenessOf(t *testing.T, s *torch.Scope, weight *torch.Tensor, units []int, train func()) float64 {
	values := func() []float64 {
		v, err := torch.Values[float64](s.To(s.Detach(weight), torch.Float64, torch.CPU))
		require.NoError(t, err)
		return v
	}
	before := values()
	train()
	after := values()
	row := len(after) / len(units)
	var cosines []float64
	for k, source := range units {
		if k == source {
			continue
		}
		dot, one, other := 0.0, 0.0, 0.0
		for i := range row {
			a, b := after[k*row+i]-before[k*row+i], after[source*row+i]-before[source*row+i]
			require.Equal(t, before[k*row+i], before[source*row+i], "copies start equal")
			dot, one, other = dot+a*b, one+a*a, other+b*b
		}
		cosines = append(cosines, dot/math.Sqrt(one*other))
	}
	return stat.Median(cosines)
}

// A record without a rule replays with the rule of the version that wrote it.
func TestOldRecordsKeepTheirRule(t *testing.T) {
	for _, c := range []struct {
		network func() *model.Network
		action  string
		equal   bool
		rule    net2net.SplitRule
	}{
		{newNetwork, "widen:conv1.layers.0:12", false, net2net.SplitEqual},
		{smallTransformer, "widen:blocks.0.up:128", false, net2net.SplitShares},
		{smallTransformer, "widen:blocks.0.up:128", true, net2net.SplitEqual},
	} {
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			a, err := net2net.ParseAction(c.action)
			require.NoError(t, err)
			grow := func(o net2net.Options, old *net2net.Change) (*model.Network, *net2net.Change) {
				n := c.network()
				require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 1)}))
				var change *net2net.Change
				if old != nil {
					change, err = net2net.Replay(n, old, o)
				} else {
					change, err = net2net.Apply(n, a, o)
				}
				require.NoError(t, err)
				return n, change
			}
			want, record := grow(net2net.Options{Seed: 4, Split: c.rule}, nil)
			require.Equal(t, c.rule, record.Split)
			record.Split, record.Equal = "", c.equal
			got, again := grow(net2net.Options{}, record)
			require.Equal(t, c.rule, again.Split)
			for k, e := range want.State() {
				x, err := e.Tensor.Bytes()
				require.NoError(t, err)
				y, err := got.State()[k].Tensor.Bytes()
				require.NoError(t, err)
				require.Equal(t, x, y, e.Name)
			}
			return nil
		}))
	}
}

// Split rules and noise that a network does not support are refused.
func TestRulesOfNetworks(t *testing.T) {
	for want, c := range map[string]struct {
		network *model.Network
		action  string
		options net2net.Options
	}{
		`split is "shares", which needs a network that runs as a graph`: {newNetwork(), "widen:conv1.layers.0:12",
			net2net.Options{Split: net2net.SplitShares}},
		"noise is 0.1, but it applies only to networks of layers": {smallTransformer(), "widen:blocks.0.up:128",
			net2net.Options{Noise: 0.1}},
		"split applies only to copied units": {newNetwork(), "widen:conv1.layers.0:12",
			net2net.Options{Split: net2net.SplitEqual, Start: "gradmax"}},
	} {
		a, err := net2net.ParseAction(c.action)
		require.NoError(t, err)
		_, err = net2net.Apply(c.network, a, c.options)
		require.ErrorContains(t, err, want)
	}
}

func smallTransformer() *model.Network {
	g, err := transformer.New(transformer.Config{Vocabulary: 11, Context: 8, Width: 16, Heads: 2, Depth: 1})
	if err != nil {
		panic(err)
	}
	n, err := model.FromGraph(g)
	if err != nil {
		panic(err)
	}
	return n
}

// A layer that reads and makes the same units, as in a residual sum, reverts to the same bits, although its copied rows
// have different columns.
func TestResidualsRevertToTheBit(t *testing.T) {
	conv := func(in, out int) any { return fmt.Sprintf("Conv2d(%d, %d, 3, padding=1)", in, out) }
	n, err := model.FromForm(map[string]any{"input": []any{1, 8, 8}, "layers": []any{
		map[string]any{"name": "first", "layer": conv(1, 5)}, map[string]any{"residual": []any{conv(5, 5)}},
		"AdaptiveAvgPool2d(1)", "Flatten()", "Linear(5, 3)"}})
	require.NoError(t, err)
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 1)}))
		bits := func() (all [][]byte) {
			for _, e := range n.State() {
				b, err := e.Tensor.Bytes()
				require.NoError(t, err)
				all = append(all, b)
			}
			return all
		}
		before := bits()
		a, err := net2net.ParseAction("widen:first:20")
		require.NoError(t, err)
		c, err := net2net.Apply(n, a, net2net.Options{Seed: 2})
		require.NoError(t, err)
		_, err = net2net.Revert(n, c)
		require.NoError(t, err)
		require.Equal(t, before, bits())
		return nil
	}))
}

// Firefly splits a unit into two opposite units, each with half of the outgoing weights.
func TestFireflySplitsAreEqual(t *testing.T) {
	require.Equal(t, net2net.SplitRule(""), net2net.Options{Start: "firefly"}.SplitRule())
	require.Equal(t, net2net.SplitPartition, net2net.Options{}.SplitRule())
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		l := newLearner(t, s, 1)
		a, err := net2net.ParseAction("widen:conv1.layers.0:9")
		require.NoError(t, err)
		batch, labels := s.Narrow(l.task.images, 0, 0, batchSize), s.Narrow(l.task.labels, 0, 0, batchSize)
		c, err := net2net.Apply(l.net, a, net2net.Options{Start: "firefly", Amplitude: 0.5, Batch: batch,
			Loss: net2net.CrossEntropy(labels), Seed: 1})
		require.NoError(t, err)
		require.Empty(t, c.Split)
		for _, m := range c.Moves {
			require.False(t, m.Partition, m.Name)
		}
		return nil
	}))
}
