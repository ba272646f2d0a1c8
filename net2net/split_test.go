package net2net_test

import (
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

// likenessInGraph widens a block of a transformer.
func likenessInGraph(t *testing.T, rule net2net.SplitRule) (likeness float64) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		g, err := transformer.New(transformer.Config{Vocabulary: 11, Context: 8, Width: 16, Heads: 2, Depth: 1})
		require.NoError(t, err)
		n, err := model.FromGraph(g)
		require.NoError(t, err)
		random := s.NewGenerator(torch.CPU, 1)
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
