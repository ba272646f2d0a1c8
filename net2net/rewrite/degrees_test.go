package rewrite

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/graph"
	"graft/torch"
	"graft/torch/weights"
	"graft/tracing/axes"
)

// sumNet is a network for tests of axes that products sum over. Its tokens are embedded with 5 places.
type sumNet struct{ *graph.Builder }

const sumWidth, sumUnits = 5, 6 // sizes of the embedding, and of the axis under test

func newSumNet() (sumNet, graph.Value) {
	b := sumNet{graph.NewBuilder("Sums", graph.Input{Value: "tokens", DType: weights.Int64,
		Shape: []graph.Size{{Name: "batch", N: 2}, {N: 4}}}, weights.Float64)}
	return b, b.Call("embedding.default", "weight", b.Parameter("embed", "", 7, sumWidth), "indices",
		b.Graph.Input.Value)
}

// buffer adds a tensor that is not trained.
func (b sumNet) buffer(name string, shape ...int) graph.Weight {
	return b.Tensor(graph.Tensor{Name: name, Role: graph.Buffer, DType: weights.Float64, Shape: shape, Init: "ones"})
}

// layer adds a linear layer with a bias.
func (b sumNet) layer(name string, x graph.Value, in, out int) graph.Value {
	return b.Call("linear.default", "input", x, "weight", b.Parameter(name+".weight", "", out, in), "bias",
		b.Parameter(name+".bias", "", out))
}

// turned swaps tokens and places.
func (b sumNet) turned(x graph.Value) graph.Value {
	return b.Call("transpose.int", "self", x, "dim0", 1, "dim1", 2)
}

// norm normalises the channels of an operand.
func (b sumNet) norm(x graph.Value) graph.Value {
	return b.turned(b.Call("batch_norm.default", "input", b.turned(x), "weight",
		b.Parameter("bn.weight", "ones", sumUnits), "bias", b.Parameter("bn.bias", "", sumUnits), "running_mean",
		b.buffer("bn.running_mean", sumUnits), "running_var", b.buffer("bn.running_var", sumUnits), "training", false,
		"momentum", 0.1, "eps", 1e-5, "cudnn_enabled", true))
}

// grows widens the axis of a network by a half and by the whole, and checks the function in both modes, the gradients
// and the way back. If refused is not empty, it checks the error.
func (b sumNet) grows(t *testing.T, what, tensor, refused string) {
	require.NoError(t, b.Graph.Check(), what)
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		set := drawWeights(b.Graph, rand.New(rand.NewPCG(3, 4)))
		for k, w := range set.Tensors {
			if strings.HasSuffix(w.Name, "running_var") {
				set.Tensors[k] = weights.FromFloat64s(w.Name, []float64{1, 2, 3, 1.5, 2.5, 0.5})
			}
		}
		n, err := b.Graph.Bind(s, torch.CPU, set)
		require.NoError(t, err, what)
		x := &subject{t, s, n}
		ids := [][]int64{{1, 2, 3, 4}, {6, 0, 5, 1}}
		train, gradients := x.training(ids), x.gradients(ids)
		read, err := axes.Read(n.Graph)
		require.NoError(t, err, what)
		for _, o := range []Options{{}, {Spread: 0.5, Seed: 1}, {Partition: true}} {
			for _, to := range []int{9, 12} {
				what := fmt.Sprintf("%s to %d, %+v", what, to, o)
				plan, err := Widen(read, read.Tensors[tensor][0].Find(), to, o)
				if refused != "" {
					assert.ErrorContains(t, err, refused, what)
					continue
				}
				require.NoError(t, err, what)
				grown, err := plan.Grow(s, n)
				require.NoError(t, err, what)
				reverse, err := plan.Reverse()
				require.NoError(t, err, what)
				back, err := reverse.Grow(s, grown)
				require.NoError(t, err, what)
				want := x.logits(ids)
				for _, x.n = range []*graph.Network{grown, back} {
					assert.Less(t, distance(want, x.logits(ids)), 1e-12, what)
				}
				x.n = grown // training also changes running statistics
				assert.Less(t, distance(train, x.training(ids)), 1e-12, what)
				if !o.Partition {
					x.checkMoments(plan, gradients, x.gradients(ids), 1e-10, what)
				}
				x.n = n
			}
		}
		return nil
	}))
}

// training returns the logits in train mode.
func (x *subject) training(ids [][]int64) []float64 {
	p, err := x.n.Program(x.s, torch.ProgramOptions{})
	require.NoError(x.t, err)
	var flat []int64
	for _, row := range ids {
		flat = append(flat, row...)
	}
	return x.values(p.Forward(x.s, torch.From(x.s, flat, len(ids), len(ids[0])), true, nil))
}

// A query or key that depends linearly on one layer can get roots of shares; operators that are not linear, norms over
// the axis and layers that other values share are refused.
func TestFactorsOfScores(t *testing.T) {
	const notLinear, seen, both = " is not linear", "would see the shares", "only one of them may do so"
	same := func(operator string, more ...any) func(sumNet, graph.Value) graph.Value {
		return func(b sumNet, q graph.Value) graph.Value {
			return b.Call(operator, append([]any{"self", q}, more...)...)
		}
	}
	with := func(operator string, factor func(sumNet) any) func(sumNet, graph.Value) graph.Value {
		return func(b sumNet, q graph.Value) graph.Value {
			return b.Call(operator, "self", q, "other", factor(b))
		}
	}
	parameter := func(b sumNet) any { return b.Parameter("factor", "", sumUnits) }
	buffer := func(b sumNet) any { return b.buffer("factor", sumUnits) }
	number := func(sumNet) any { return 0.5 }
	for what, c := range map[string]struct {
		query   func(b sumNet, q graph.Value) graph.Value
		refused string
	}{
		"plain":      {func(_ sumNet, q graph.Value) graph.Value { return q }, ""},
		"neg":        {same("neg.default"), ""},
		"relu":       {same("relu.default"), ""},
		"abs":        {same("abs.default"), ""},
		"elu":        {same("elu.default"), "elu.default" + notLinear},
		"gelu":       {same("gelu.default"), "gelu.default" + notLinear},
		"tanh":       {same("tanh.default"), "tanh.default" + notLinear},
		"exp":        {same("exp.default"), "exp.default" + notLinear},
		"square":     {same("square.default"), "square.default" + notLinear},
		"clamp":      {same("clamp.default", "min", -1.0, "max", 1.0), "clamp.default" + notLinear},
		"mul number": {with("mul.Tensor", number), ""},
		"mul tensor": {with("mul.Tensor", parameter), ""},
		"mul buffer": {with("mul.Tensor", buffer), ""},
		"div tensor": {with("div.Tensor", parameter), ""},
		"add number": {with("add.Tensor", number), seen},
		"add tensor": {with("add.Tensor", parameter), ""},
		"add buffer": {with("add.Tensor", buffer), ""},
		"sub tensor": {with("sub.Tensor", parameter), ""},
		"maximum":    {with("maximum.default", parameter), ""},
		"add one":    {with("add.Tensor", func(b sumNet) any { return b.Parameter("factor", "", 1) }), seen},
		"own square": {func(b sumNet, q graph.Value) graph.Value {
			return b.Call("mul.Tensor", "self", q, "other", q)
		}, seen},
		"gate": {func(b sumNet, q graph.Value) graph.Value {
			return b.Call("mul.Tensor", "self", q, "other", b.Call("sigmoid.default", "self", q))
		}, seen},
		"elu times tensor": {func(b sumNet, q graph.Value) graph.Value {
			return b.Call("mul.Tensor", "self", b.Call("elu.default", "self", q), "other", parameter(b))
		}, ""},
		"view of a factor": {func(b sumNet, q graph.Value) graph.Value {
			size := []any{int64(1), int64(1), int64(sumUnits)}
			return b.Call("mul.Tensor", "self", q, "other",
				b.Call("view.default", "self", parameter(b), "size", size))
		}, ""},
		"depthwise": {func(b sumNet, q graph.Value) graph.Value {
			return b.turned(b.Call("conv1d.default", "input", b.turned(q), "weight",
				b.Parameter("dw.weight", "", sumUnits, 1, 3), "bias", b.Parameter("dw.bias", "", sumUnits), "stride",
				[]int{1}, "padding", []int{1}, "dilation", []int{1}, "groups", sumUnits))
		}, ""},
		"batch norm": {sumNet.norm, ""},
		"elu before batch norm": {func(b sumNet, q graph.Value) graph.Value {
			return b.norm(b.Call("elu.default", "self", q))
		}, ""},
		"layer norm": {func(b sumNet, q graph.Value) graph.Value {
			return b.Call("layer_norm.default", "input", q, "normalized_shape", []any{int64(sumUnits)}, "weight",
				b.Parameter("ln.weight", "", sumUnits), "bias", b.Parameter("ln.bias", "", sumUnits), "eps", 1e-5)
		}, "a normalisation also runs over it"},
		"two layers": {func(b sumNet, q graph.Value) graph.Value {
			return b.Call("add.Tensor", "self", q, "other", b.layer("more", "embedding", sumWidth, sumUnits))
		}, ""},
		"a layer that also reads": {func(b sumNet, q graph.Value) graph.Value {
			return b.Call("add.Tensor", "self", q, "other", b.layer("more", q, sumUnits, sumWidth+1))
		}, both},
	} {
		b, x := newSumNet()
		q, k := c.query(b, b.layer("q", x, sumWidth, sumUnits)), b.layer("k", x, sumWidth, sumUnits)
		scores := b.Call("matmul.default", "self", q, "other", b.turned(k))
		y := b.Call("matmul.default", "self", b.Call("tanh.default", "self", scores), "other", x)
		b.Graph.Output = b.layer("head", y, sumWidth, 3)
		b.grows(t, what, "q.weight", c.refused)
	}
}

// A layer that computes its weight gets shares if the weight depends linearly on tensors.
func TestComputedWeightsTakeShares(t *testing.T) {
	for what, c := range map[string]struct {
		weight  func(b sumNet, w graph.Weight) any
		refused string
	}{
		"plain":  {func(_ sumNet, w graph.Weight) any { return w }, ""},
		"buffer": {func(b sumNet, _ graph.Weight) any { return b.buffer("frozen", 3, sumUnits) }, ""},
		"constant": {func(b sumNet, _ graph.Weight) any {
			return b.Tensor(graph.Tensor{Name: "fixed", Role: graph.Constant, DType: weights.Float64,
				Shape: []int{3, sumUnits}, Init: "ones"})
		}, "fixed is a constant"},
		"mask": {func(b sumNet, w graph.Weight) any {
			return b.Call("mul.Tensor", "self", b.buffer("mask", 3, sumUnits), "other", w)
		}, ""},
		"scaled": {func(b sumNet, w graph.Weight) any { return b.Call("mul.Tensor", "self", w, "other", 0.1) }, ""},
		"low rank": {func(b sumNet, w graph.Weight) any {
			return b.Call("add.Tensor", "self", w, "other", b.Call("matmul.default", "self", b.Parameter("b", "", 3, 2),
				"other", b.Parameter("a", "", 2, sumUnits)))
		}, ""},
		"squashed": {func(b sumNet, w graph.Weight) any { return b.Call("tanh.default", "self", w) },
			"tanh.default is not linear"},
		"shifted": {func(b sumNet, w graph.Weight) any { return b.Call("add.Tensor", "self", w, "other", 1.0) },
			"would see the shares"},
		"read twice": {func(b sumNet, w graph.Weight) any {
			return b.Call("mul.Tensor", "self", w, "other", b.Call("sigmoid.default", "self", w))
		}, "would see the shares"},
	} {
		b, x := newSumNet()
		h := b.Call("gelu.default", "self", b.layer("up", x, sumWidth, sumUnits))
		var w graph.Weight
		if what != "buffer" && what != "constant" {
			w = b.Parameter("down.weight", "", 3, sumUnits)
		}
		b.Graph.Output = b.Call("linear.default", "input", h, "weight", c.weight(b, w), "bias",
			b.Parameter("down.bias", "", 3))
		b.grows(t, what, "up.weight", c.refused)
	}
}
