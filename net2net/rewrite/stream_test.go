package rewrite

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/graph"
	"graft/torch"
	"graft/tracing/axes"
)

// Norms over a residual stream may share tensors if they need the same change.
func TestStreamsWithCommonNorms(t *testing.T) {
	const w, double, padded = sumWidth, 2 * sumWidth, sumWidth + 3
	norm := func(b sumNet, x graph.Value, weight, bias any) graph.Value {
		return b.Call("layer_norm.default", "input", x, "normalized_shape", []any{int64(w)}, "weight", weight, "bias",
			bias, "eps", 1e-3)
	}
	untied := func(b sumNet, x graph.Value) graph.Value { return b.layer("head", x, w, 3) }
	tied := func(b sumNet, x graph.Value) graph.Value {
		return b.Call("linear.default", "input", x, "weight", graph.Weight("embed"))
	}
	plain := func(b sumNet, x graph.Value) (weight, bias any) {
		return b.Parameter("weight", "ones", w), b.Parameter("bias", "", w)
	}
	for what, c := range map[string]struct {
		affine  func(b sumNet, x graph.Value) (weight, bias any)
		head    func(b sumNet, x graph.Value) graph.Value
		refused map[int]string
	}{
		"common": {plain, untied, nil},
		"common, before a tied head": {plain, tied, map[int]string{double: "normalisations share the tensor weight",
			padded: "normalisations share the tensor weight"}},
		"read by another operator": {plain, func(b sumNet, x graph.Value) graph.Value {
			return b.layer("head", b.Call("mul.Tensor", "self", x, "other", graph.Weight("weight")), w, 3)
		}, map[int]string{padded: "another operator also reads this tensor"}},
		"computed bias": {func(b sumNet, x graph.Value) (weight, bias any) {
			bias = b.Call("mul.Tensor", "self", b.Parameter("bias", "", w), "other", 2.0)
			return b.Parameter("weight", "ones", w), bias
		}, untied, map[int]string{padded: "is computed"}},
		"scores over the stream": {plain, func(b sumNet, x graph.Value) graph.Value {
			scores := b.Call("matmul.default", "self", x, "other", b.turned(x))
			return b.layer("head", scores, 4, 3)
		}, map[int]string{padded: "a normalisation also runs over it", double: "a normalisation also runs over it"}},
	} {
		b, x := newSumNet()
		weight, bias := c.affine(b, x)
		branch := b.layer("block", norm(b, x, weight, bias), w, w)
		x = norm(b, b.Call("add.Tensor", "self", x, "other", branch), weight, bias)
		b.Graph.Output = c.head(b, x)
		require.NoError(t, b.Graph.Check(), what)
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			n, err := b.Graph.Bind(s, torch.CPU, drawWeights(b.Graph, rand.New(rand.NewPCG(3, 4))))
			require.NoError(t, err, what)
			x := &subject{t, s, n}
			ids := [][]int64{{1, 2, 3, 4}, {6, 0, 5, 1}}
			want := x.logits(ids)
			read, err := axes.Read(n.Graph)
			require.NoError(t, err, what)
			for _, to := range []int{double, padded} {
				plan, err := Widen(read, read.Tensors["embed"][1].Find(), to, Options{Spread: 0.5})
				if c.refused[to] != "" {
					assert.ErrorContains(t, err, c.refused[to], "%s to %d", what, to)
					continue
				}
				require.NoError(t, err, "%s to %d", what, to)
				x.n, err = plan.Grow(s, n)
				require.NoError(t, err, what)
				assert.Less(t, distance(want, x.logits(ids)), 1e-12, "%s to %d", what, to)
			}
			return nil
		}))
	}
}

// A tied head may be behind operators without weights, such as a mean over the tokens; other readers of the norm are
// refused.
func TestTiedHeadsBehindOtherOperators(t *testing.T) {
	for what, c := range map[string]struct {
		between func(b sumNet, x graph.Value) graph.Value
		refused string
	}{
		"mean": {func(b sumNet, x graph.Value) graph.Value {
			return b.Call("mean.dim", "self", x, "dim", []any{int64(1)})
		}, ""},
		"dropout": {func(b sumNet, x graph.Value) graph.Value {
			return b.Call("dropout.default", "input", x, "p", 0.5)
		}, ""},
		"square": {func(b sumNet, x graph.Value) graph.Value { return b.Call("square.default", "self", x) },
			"untie the tensor first"},
	} {
		b, x := newSumNet()
		x = b.Call("layer_norm.default", "input", x, "normalized_shape", []any{int64(sumWidth)}, "weight",
			b.Parameter("weight", "ones", sumWidth), "bias", b.Parameter("bias", "", sumWidth), "eps", 1e-3)
		b.Graph.Output = b.Call("linear.default", "input", c.between(b, x), "weight", graph.Weight("embed"))
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			n, err := b.Graph.Bind(s, torch.CPU, drawWeights(b.Graph, rand.New(rand.NewPCG(3, 4))))
			require.NoError(t, err, what)
			x, ids := &subject{t, s, n}, [][]int64{{1, 2, 3, 4}, {6, 0, 5, 1}}
			want := x.logits(ids)
			read, err := axes.Read(n.Graph)
			require.NoError(t, err, what)
			for _, to := range []int{2 * sumWidth, sumWidth + 3} {
				plan, err := Widen(read, read.Tensors["embed"][1].Find(), to, Options{})
				if c.refused != "" {
					require.ErrorContains(t, err, c.refused, what)
					continue
				}
				require.NoError(t, err, what)
				x.n, err = plan.Grow(s, n)
				require.NoError(t, err, what)
				assert.Less(t, distance(want, x.logits(ids)), 1e-12, "%s to %d", what, to)
			}
			return nil
		}))
	}
}

// A wider network reshapes where the network had views: another size may need a copy, as LibTorch's attention returns
// other layouts for other sizes. The way back has the views again.
func TestViewsBecomeReshapes(t *testing.T) {
	b, x := newSumNet()
	size := func(sizes ...int64) (list []any) {
		for _, n := range sizes {
			list = append(list, n)
		}
		return list
	}
	x = b.Call("view.default", "self", b.layer("units", x, sumWidth, sumUnits), "size", size(-1, 24))
	x = b.Call("view.default", "self", x, "size", size(-1, 4, 6))
	b.Graph.Output = b.layer("head", x, sumUnits, 3)
	require.NoError(t, b.Graph.Check())
	read, err := axes.Read(b.Graph)
	require.NoError(t, err)
	plan, err := Widen(read, read.Tensors["units.weight"][0].Find(), 2*sumUnits, Options{})
	require.NoError(t, err)
	operators := func(g *graph.Graph) (names []string) {
		for _, n := range g.Nodes {
			names = append(names, n.Operator)
		}
		return names
	}
	require.NotContains(t, operators(plan.Graph), "view.default")
	require.Contains(t, operators(plan.Graph), "reshape.default")
	reverse, err := plan.Reverse()
	require.NoError(t, err)
	require.Equal(t, operators(b.Graph), operators(reverse.Graph))
}
