package rewrite

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/transformer"
	"graft/torch"
	"graft/torch/weights"
	"graft/tracing/axes"
)

// onTransformer calls a test with a small transformer in float64.
func onTransformer(t *testing.T, c transformer.Config, test func(x *subject, ids [][]int64)) {
	c.DType = weights.Float64
	g, err := transformer.New(c)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(3, 3))
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n, err := g.Bind(s, torch.CPU, drawWeights(g, r))
		require.NoError(t, err)
		x := &subject{t, s, n}
		test(x, x.tokens(r, c))
		return nil
	}))
}

var small = transformer.Config{Vocabulary: 11, Context: 5, Width: 6, Heads: 4, Groups: 2, Size: 2, Hidden: 8, Depth: 2,
	Eps: 1e-5}

// With zero branches, only their last layers learn at first; with pairs, all layers do. Norms wait, because the
// gradients of a pair cancel. Biases of keys never learn.
func TestOppositePairsLearnAtOnce(t *testing.T) {
	for how, want := range map[Branches]bool{ZeroBranches: false, OppositeBranches: true} {
		onTransformer(t, small, func(x *subject, ids [][]int64) {
			before := x.logits(ids)
			x.deepen("blocks", how)
			assert.Less(t, distance(before, x.logits(ids)), 1e-13, how)
			for name, gradient := range x.gradients(ids) {
				if !strings.HasPrefix(name, "blocks.2.") && !strings.HasPrefix(name, "blocks.3.") ||
					strings.HasSuffix(name, "k.bias") || strings.Contains(name, ".ln") {
					continue
				}
				largest := 0.0
				for _, v := range x.values(gradient) {
					largest = max(largest, v, -v)
				}
				ends := strings.Contains(name, ".o.") || strings.Contains(name, ".down.")
				assert.Equal(t, want || ends, largest > 1e-9, "%q: %s", how, name)
			}
		})
	}
}

// Pairs keep the function if an odd number of units, or a single head, leaves one without a partner.
func TestPairsOfOddNumbers(t *testing.T) {
	c := small
	c.Heads, c.Groups, c.Size, c.Hidden = 1, 1, 2, 5
	onTransformer(t, c, func(x *subject, ids [][]int64) {
		before := x.logits(ids)
		x.deepen("blocks.0", OppositeBranches)
		assert.Less(t, distance(before, x.logits(ids)), 1e-13)
	})
}

func TestPairsDoNotCancelBehindDropout(t *testing.T) {
	c := small
	c.Dropout = 0.1
	g, err := transformer.New(c)
	require.NoError(t, err)
	a, err := axes.Read(g)
	require.NoError(t, err)
	_, err = Deepen(a, "blocks.0", OppositeBranches)
	require.ErrorContains(t, err, `use form = "residual"`)
}

// A stacked list computes the same as a network with twice the blocks and the same weights, and reverts.
func TestStackedBlocksAreCopies(t *testing.T) {
	onTransformer(t, small, func(x *subject, ids [][]int64) {
		twice := small
		twice.DType, twice.Depth = weights.Float64, 4
		g, err := transformer.New(twice)
		require.NoError(t, err)
		set := &weights.Set{}
		for _, tensor := range g.Tensors {
			from := tensor.Name
			for k := range 2 {
				from = strings.Replace(from, fmt.Sprintf("blocks.%d.", k+2), fmt.Sprintf("blocks.%d.", k), 1)
			}
			w := weights.FromFloat64s(tensor.Name, x.values(x.n.Tensor(from)))
			w.Shape = nil
			for _, size := range tensor.Shape {
				w.Shape = append(w.Shape, int64(size))
			}
			set.Tensors = append(set.Tensors, w)
		}
		n, err := g.Bind(x.s, torch.CPU, complete(t, g, set))
		require.NoError(t, err)
		want := (&subject{t, x.s, n}).logits(ids)
		before := x.logits(ids)
		plan := x.deepen("blocks", StackedBranches)
		assert.Less(t, distance(want, x.logits(ids)), 1e-13)
		assert.Greater(t, distance(before, x.logits(ids)), 0.01)
		back, err := plan.Reverse()
		require.NoError(t, err)
		x.n, err = back.Grow(x.s, x.n)
		require.NoError(t, err)
		assert.Less(t, distance(before, x.logits(ids)), 1e-13)
	})
}
