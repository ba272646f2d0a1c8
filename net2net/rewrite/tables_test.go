package rewrite

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/graph"
	"graft/model/transformer"
	"graft/torch"
	"graft/torch/weights"
	"graft/tracing/axes"
)

func TestTablesGrow(t *testing.T) {
	ids := [][]int64{{1, 2, 3}, {4, 0, 2}}
	base := transformer.Config{Vocabulary: 9, Context: 5, Width: 8, Heads: 4, Groups: 1, Depth: 2,
		DType: weights.Float64}
	for name, c := range map[string]struct {
		change func(*transformer.Config)
		plan   func(*axes.Axes) (*Plan, error)
		check  func(t *testing.T, g *graph.Graph)
	}{
		"context": {func(*transformer.Config) {}, func(a *axes.Axes) (*Plan, error) { return Context(a, 12) },
			func(t *testing.T, g *graph.Graph) { assert.Equal(t, []int{12, 8}, g.Tensor("pos.weight").Shape) }},
		"untie": {func(*transformer.Config) {}, Untie, func(t *testing.T, g *graph.Graph) {
			assert.Equal(t, []int{9, 8}, g.Tensor("head.weight").Shape)
		}},
		"ungroup": {func(*transformer.Config) {}, func(a *axes.Axes) (*Plan, error) {
			groups, err := Groups(a, "blocks.0.k.weight")
			if err != nil {
				return nil, err
			}
			return Ungroup(a, groups, 2)
		},
			func(t *testing.T, g *graph.Graph) { assert.Equal(t, []int{4, 8}, g.Tensor("blocks.0.k.weight").Shape) }},
	} {
		config := base
		c.change(&config)
		g, err := transformer.New(config)
		require.NoError(t, err)
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			set, err := g.Draw(3)
			require.NoError(t, err)
			n, err := g.Bind(s, torch.CPU, set)
			require.NoError(t, err)
			x := &subject{t, s, n}
			want := x.logits(ids)
			a, err := axes.Read(g)
			require.NoError(t, err)
			p, err := c.plan(a)
			if !assert.NoError(t, err, name) {
				return nil
			}
			x.n, err = p.Grow(s, n)
			require.NoError(t, err)
			assert.Less(t, distance(want, x.logits(ids)), 1e-12, name)
			c.check(t, x.n.Graph)
			return nil
		}))
	}
}

func TestVocabularyKeepsTheOldLogits(t *testing.T) {
	for _, untied := range []bool{false, true} {
		g, err := transformer.New(transformer.Config{Vocabulary: 9, Context: 3, Width: 8, Heads: 2, Depth: 1,
			Untied: untied, DType: weights.Float64})
		require.NoError(t, err)
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			set, err := g.Draw(3)
			require.NoError(t, err)
			n, err := g.Bind(s, torch.CPU, set)
			require.NoError(t, err)
			x := &subject{t, s, n}
			want := x.logits([][]int64{{1, 2, 3}})
			a, err := axes.Read(g)
			require.NoError(t, err)
			p, err := Vocabulary(a, 12)
			require.NoError(t, err)
			x.n, err = p.Grow(s, n)
			require.NoError(t, err)
			got := x.logits([][]int64{{1, 2, 3}})
			for k := range 3 {
				assert.Less(t, distance(want[9*k:9*k+9], got[12*k:12*k+9]), 1e-12)
			}
			return nil
		}))
	}
}

// Ungrouping heads with common keys and values keeps the function.
func TestGroupsOfTheReferenceAreUndone(t *testing.T) {
	for _, g := range growths(t) {
		if g.Before.Groups == g.After.Groups || g.Before.Heads != g.After.Heads {
			continue
		}
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			net, err := transformer.New(g.Before.config(weights.Float64))
			require.NoError(t, err)
			n, err := net.Bind(s, torch.CPU, complete(t, net, readState(t, g.path+".before.pt")))
			require.NoError(t, err)
			x := &subject{t, s, n}
			for _, key := range []string{"blocks.0.k.weight", "blocks.1.k.weight"} {
				a, err := axes.Read(x.n.Graph)
				require.NoError(t, err)
				groups, err := Groups(a, key)
				require.NoError(t, err)
				p, err := Ungroup(a, groups, g.After.Groups)
				require.NoError(t, err)
				x.n, err = p.Grow(s, x.n)
				require.NoError(t, err)
			}
			assert.Less(t, distance(g.LogitsBefore, x.logits(g.IDs)), 1e-12, g.Name)
			return nil
		}))
	}
}
