package rewrite

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/graph"
	"graft/torch"
	"graft/torch/weights"
	"graft/tracing/axes"
)

// recurrentNet returns a network of an embedding, a recurrent layer and a linear layer for sequences of tokens.
func recurrentNet(t *testing.T, operator string, gates, layers, directions int, states bool) *graph.Graph {
	const vocabulary, width, units = 7, 5, 6
	b := graph.NewBuilder("Recurrent", graph.Input{Value: "tokens", DType: weights.Int64,
		Shape: []graph.Size{{Name: "batch", N: 2}, {N: 4}}}, weights.Float64)
	var x graph.Value
	b.Module("embed", "Embedding", func() {
		x = b.Call("embedding.default", "weight", b.Parameter("weight", "normal 1", vocabulary, width), "indices",
			b.Graph.Input.Value)
	})
	b.Module("rnn", "RNN", func() {
		batch := b.Call("sym_size.int", "self", b.Graph.Input.Value, "dim", 0)
		var hx []any
		for range map[bool]int{true: 2, false: 1}[states] {
			hx = append(hx, b.Call("zeros.default", "size", []any{int64(layers * directions), batch, int64(units)},
				"dtype", weights.Float64))
		}
		var params []any
		for l := range layers {
			for d := range directions {
				in, suffix := width, fmt.Sprintf("_l%d_%d", l, d)
				if l > 0 {
					in = directions * units
				}
				params = append(params, b.Parameter("weight_ih"+suffix, "", gates*units, in),
					b.Parameter("weight_hh"+suffix, "", gates*units, units),
					b.Parameter("bias_ih"+suffix, "", gates*units), b.Parameter("bias_hh"+suffix, "", gates*units))
			}
		}
		first := any(hx)
		results := 3
		if !states {
			first, results = hx[0], 2
		}
		x = b.Calls(operator+".input", results, "input", x, "hx", first, "params", params, "has_biases", true,
			"num_layers", layers, "dropout", 0.0, "bidirectional", directions == 2, "batch_first", true)[0]
	})
	b.Module("head", "Linear", func() {
		x = b.Call("linear.default", "input", x, "weight", b.Parameter("weight", "", vocabulary, directions*units),
			"bias", b.Parameter("bias", "", vocabulary))
	})
	b.Graph.Output = x
	require.NoError(t, b.Graph.Check())
	return b.Graph
}

// Widening the hidden units of a recurrent layer keeps the function, changes gradients as planned, and reverts.
func TestRecurrentLayersWiden(t *testing.T) {
	for _, c := range []struct {
		operator                  string
		gates, layers, directions int
	}{{"lstm", 4, 1, 1}, {"lstm", 4, 2, 2}, {"gru", 3, 2, 1}, {"gru", 3, 2, 2}, {"rnn_tanh", 1, 2, 2},
		{"rnn_relu", 1, 1, 1}} {
		g := recurrentNet(t, c.operator, c.gates, c.layers, c.directions, c.operator == "lstm")
		r := rand.New(rand.NewPCG(9, 9))
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			n, err := g.Bind(s, torch.CPU, drawWeights(g, r))
			require.NoError(t, err)
			x := &subject{t, s, n}
			ids := [][]int64{{1, 2, 3, 4}, {6, 0, 5, 1}}
			before, gradients := x.logits(ids), x.gradients(ids)
			read, err := axes.Read(n.Graph)
			require.NoError(t, err)
			units := read.Tensors["rnn.weight_hh_l0_0"][1].Find()
			for k, to := range []int{7, 15, 7, 15} {
				o := Options{Spread: 0.5, Seed: 3, Partition: k > 1}
				what := fmt.Sprintf("%s of %d layers in %d directions to %d, %v", c.operator, c.layers, c.directions,
					to, o)
				plan, err := Widen(read, units, to, o)
				require.NoError(t, err, what)
				x.n, err = plan.Grow(s, n)
				require.NoError(t, err, what)
				assert.Less(t, distance(before, x.logits(ids)), 1e-12, what)
				if !o.Partition {
					x.checkMoments(plan, gradients, x.gradients(ids), 1e-10, what)
				}
				back, err := plan.Reverse()
				require.NoError(t, err, what)
				x.n, err = back.Grow(s, x.n)
				require.NoError(t, err, what)
				assert.Less(t, distance(before, x.logits(ids)), 1e-12, what)
			}
			return nil
		}))
	}
}
