package rewrite

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/graph"
	"graft/torch"
	"graft/torch/weights"
	"graft/tracing/axes"
)

// deepens repeats the block "block" of a network, which keeps the function or is refused.
func (b sumNet) deepens(t *testing.T, what, refused string) {
	require.NoError(t, b.Graph.Check(), what)
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n, err := b.Graph.Bind(s, torch.CPU, drawWeights(b.Graph, rand.New(rand.NewPCG(3, 4))))
		require.NoError(t, err, what)
		x := &subject{t, s, n}
		ids := [][]int64{{1, 2, 3, 4}, {6, 0, 5, 1}}
		want := x.logits(ids)
		read, err := axes.Read(n.Graph)
		require.NoError(t, err, what)
		done := 0
		for _, how := range []Branches{ZeroBranches, OppositeBranches} {
			plan, err := Deepen(read, "block", how)
			switch {
			case refused != "":
				assert.ErrorContains(t, err, refused, what)
				continue
			case how == OppositeBranches && err != nil: // the last layer has no pairs
				continue
			}
			require.NoError(t, err, what)
			done++
			x.n, err = plan.Grow(s, n)
			require.NoError(t, err, what)
			assert.Less(t, distance(want, x.logits(ids)), 1e-12, "%s, %s", what, how)
			back, err := plan.Reverse()
			if len(plan.Notes) == 0 { // other blocks lose the affine part of a norm
				require.NoError(t, err, what)
				x.n, err = back.Grow(s, x.n)
				require.NoError(t, err, what)
				assert.Less(t, distance(want, x.logits(ids)), 1e-12, "%s, %s, and back", what, how)
			}
		}
		assert.Equal(t, refused == "", done > 0, what)
		return nil
	}))
}

// tensor adds a float64 tensor to the current module.
func (b sumNet) tensor(role graph.Role, name string, shape ...int) graph.Weight {
	return b.Tensor(graph.Tensor{Name: name, Role: role, DType: weights.Float64, Shape: shape, Init: "ones"})
}

// A block is repeated only if the tensors that end its branches are trained parameters.
func TestBranchesEndInParameters(t *testing.T) {
	const w, h, ends, none = sumWidth, sumUnits, "is computed or not trained", "which has no weight to set to zero"
	linear := func(b sumNet, x graph.Value, weight, bias any) graph.Value {
		return b.Call("linear.default", "input", x, "weight", weight, "bias", bias)
	}
	weight := func(b sumNet) graph.Weight { return b.Parameter("down.weight", "", w, h) }
	bias := func(b sumNet) graph.Weight { return b.Parameter("down.bias", "", w) }
	for what, c := range map[string]struct {
		branch  func(b sumNet, x graph.Value) graph.Value // last operators of the branch
		refused string
	}{
		"plain":   {func(b sumNet, x graph.Value) graph.Value { return linear(b, x, weight(b), bias(b)) }, ""},
		"no bias": {func(b sumNet, x graph.Value) graph.Value { return linear(b, x, weight(b), nil) }, ""},
		"masked weight": {func(b sumNet, x graph.Value) graph.Value {
			return linear(b, x, b.Call("mul.Tensor", "self", weight(b), "other", b.buffer("mask", w, h)), bias(b))
		}, ends},
		"low rank": {func(b sumNet, x graph.Value) graph.Value {
			product := b.Call("matmul.default", "self", b.Parameter("b", "", w, 2), "other", b.Parameter("a", "", 2, h))
			return linear(b, x, b.Call("add.Tensor", "self", weight(b), "other", product), bias(b))
		}, ends},
		"computed bias": {func(b sumNet, x graph.Value) graph.Value {
			return linear(b, x, weight(b), b.Call("add.Tensor", "self", bias(b), "other", 1.0))
		}, ends},
		"frozen weight": {func(b sumNet, x graph.Value) graph.Value {
			return linear(b, x, b.buffer("down.weight", w, h), bias(b))
		}, ends},
		"frozen bias": {func(b sumNet, x graph.Value) graph.Value {
			return linear(b, x, weight(b), b.buffer("down.bias", w))
		}, ends},
		"detached weight": {func(b sumNet, x graph.Value) graph.Value {
			return linear(b, x, b.Call("detach.default", "self", weight(b)), nil)
		}, ends},
		"turned weight": {func(b sumNet, x graph.Value) graph.Value {
			return b.Call("matmul.default", "self", x, "other", b.Call("t.default", "self", weight(b)))
		}, ""},
		"frozen factor of a product": {func(b sumNet, x graph.Value) graph.Value {
			return b.Call("matmul.default", "self", x, "other", b.buffer("down.weight", h, w))
		}, ends},
		"added parameter": {func(b sumNet, x graph.Value) graph.Value {
			return b.Call("add.Tensor", "self", bias(b), "other", linear(b, x, weight(b), nil))
		}, ""},
		"added constant": {func(b sumNet, x graph.Value) graph.Value {
			fixed := b.tensor(graph.Constant, "fixed", w)
			return b.Call("add.Tensor", "self", linear(b, x, weight(b), nil), "other", fixed)
		}, ends},
		"added number": {func(b sumNet, x graph.Value) graph.Value {
			return b.Call("add.Tensor", "self", linear(b, x, weight(b), nil), "other", 1.0)
		}, none},
		"layer scale": {func(b sumNet, x graph.Value) graph.Value {
			return b.Call("mul.Tensor", "self", b.Parameter("gamma", "", w), "other", linear(b, x, weight(b), bias(b)))
		}, ""},
		"scaled by a number": {func(b sumNet, x graph.Value) graph.Value {
			return b.Call("mul.Tensor", "self", linear(b, x, weight(b), bias(b)), "other", 0.5)
		}, ""},
		"divided by a parameter": {func(b sumNet, x graph.Value) graph.Value {
			return b.Call("div.Tensor", "self", linear(b, x, weight(b), bias(b)), "other", b.Parameter("gamma", "", w))
		}, ""},
		"divides a parameter": {func(b sumNet, x graph.Value) graph.Value {
			return b.Call("div.Tensor", "self", b.Parameter("gamma", "", w), "other", linear(b, x, weight(b), bias(b)))
		}, none},
		"divided by itself": {func(b sumNet, x graph.Value) graph.Value {
			y := linear(b, x, weight(b), bias(b))
			return b.Call("div.Tensor", "self", y, "other", b.Call("exp.default", "self", y))
		}, none},
		"padded with ones": {func(b sumNet, x graph.Value) graph.Value {
			y := linear(b, x, b.Parameter("down.weight", "", w-1, h), nil)
			return b.Call("constant_pad_nd.default", "self", y, "pad", []any{int64(1), int64(0)}, "value", 1.0)
		}, none},
		"norm": {func(b sumNet, x graph.Value) graph.Value {
			return b.Call("layer_norm.default", "input", linear(b, x, weight(b), bias(b)), "normalized_shape",
				[]any{int64(w)}, "weight", b.Parameter("ln.weight", "ones", w), "bias", b.Parameter("ln.bias", "", w),
				"eps", 1e-5)
		}, ""},
		"norm with a computed weight": {func(b sumNet, x graph.Value) graph.Value {
			shifted := b.Call("add.Tensor", "self", b.Parameter("ln.weight", "", w), "other", 1.0)
			return b.Call("layer_norm.default", "input", linear(b, x, weight(b), bias(b)), "normalized_shape",
				[]any{int64(w)}, "weight", shifted, "eps", 1e-5)
		}, ends},
	} {
		b, x := newSumNet()
		b.Module("block", "Block", func() {
			hidden := b.Call("relu.default", "self", b.layer("up", x, w, h))
			x = b.Call("add.Tensor", "self", x, "other", c.branch(b, hidden))
		})
		b.Graph.Output = b.layer("head", x, w, 3)
		b.deepens(t, what, c.refused)
	}
}

// addmm is a layer of matrices.
func TestBranchesOfMatrices(t *testing.T) {
	const w = sumWidth
	for what, c := range map[string]struct {
		weight  func(b sumNet) any
		refused string
	}{
		"plain":  {func(b sumNet) any { return b.Parameter("weight", "", w, w) }, ""},
		"turned": {func(b sumNet) any { return b.Call("t.default", "self", b.Parameter("weight", "", w, w)) }, ""},
		"scaled": {func(b sumNet) any {
			return b.Call("mul.Tensor", "self", b.Parameter("weight", "", w, w), "other", 0.5)
		}, "is computed or not trained"},
	} {
		b, x := newSumNet()
		x = b.Call("flatten.using_ints", "self", x, "start_dim", 1)
		x = b.layer("in", x, 4*w, w)
		b.Module("block", "Block", func() {
			y := b.Call("addmm.default", "self", b.Parameter("bias", "", w), "mat1", x, "mat2", c.weight(b))
			x = b.Call("add.Tensor", "self", x, "other", y)
		})
		b.Graph.Output = b.layer("head", x, w, 3)
		b.deepens(t, what, c.refused)
	}
}

// Norms after the residual sums have their own tensors, or the block is not repeated.
func TestNormsAfterSumsHaveTheirOwnTensors(t *testing.T) {
	const w, shared = sumWidth, "shares the tensor"
	norm := func(b sumNet, x graph.Value, weight, bias any) graph.Value {
		return b.Call("layer_norm.default", "input", x, "normalized_shape", []any{int64(w)}, "weight", weight, "bias",
			bias, "eps", 1e-3)
	}
	tensors := func(b sumNet, k int) (weight, bias graph.Weight) {
		name := string(rune('a' + k))
		return b.Parameter(name+".weight", "ones", w), b.Parameter(name+".bias", "", w)
	}
	for what, c := range map[string]struct {
		norms   func(b sumNet) [3]func(graph.Value) graph.Value // the first two are in the block
		refused string
	}{
		"own": {func(b sumNet) (all [3]func(graph.Value) graph.Value) {
			for k := range all {
				weight, bias := tensors(b, k)
				all[k] = func(x graph.Value) graph.Value { return norm(b, x, weight, bias) }
			}
			return all
		}, ""},
		"common in the block": {func(b sumNet) (all [3]func(graph.Value) graph.Value) {
			weight, bias := tensors(b, 0)
			for k := range all {
				all[k] = func(x graph.Value) graph.Value { return norm(b, x, weight, bias) }
			}
			all[2] = func(x graph.Value) graph.Value { return x }
			return all
		}, shared},
		"read after the block": {func(b sumNet) (all [3]func(graph.Value) graph.Value) {
			for k := range all {
				weight, bias := tensors(b, k)
				all[k] = func(x graph.Value) graph.Value { return norm(b, x, weight, bias) }
			}
			all[2] = all[1]
			return all
		}, shared},
		"computed bias": {func(b sumNet) (all [3]func(graph.Value) graph.Value) {
			for k := range all {
				weight, bias := tensors(b, k)
				all[k] = func(x graph.Value) graph.Value {
					return norm(b, x, weight, b.Call("add.Tensor", "self", bias, "other", 1.0))
				}
			}
			return all
		}, "is computed"},
		"root mean squares by hand": {func(b sumNet) (all [3]func(graph.Value) graph.Value) {
			for k := range all {
				weight, _ := tensors(b, k)
				all[k] = func(x graph.Value) graph.Value {
					square := b.Call("pow.Tensor_Scalar", "self", x, "exponent", 2)
					mean := b.Call("mean.dim", "self", square, "dim", []any{int64(-1)}, "keepdim", true)
					root := b.Call("rsqrt.default", "self", b.Call("add.Tensor", "self", mean, "other", 1e-3))
					return b.Call("mul.Tensor", "self", b.Call("mul.Tensor", "self", x, "other", root), "other", weight)
				}
			}
			return all
		}, ""},
	} {
		b, x := newSumNet()
		var norms [3]func(graph.Value) graph.Value
		b.Module("block", "Block", func() {
			norms = c.norms(b)
			for k, name := range []string{"first", "second"} {
				x = norms[k](b.Call("add.Tensor", "self", x, "other", b.layer(name, x, w, w)))
			}
		})
		b.Graph.Output = b.layer("head", norms[2](x), w, 3)
		b.deepens(t, what, c.refused)
	}
}
