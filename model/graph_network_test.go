package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/graph"
	"graft/torch"
	"graft/torch/weights"
)

// mixed returns a graph with a tied weight, a module that has tensors and submodules, a buffer and a constant.
func mixed(t *testing.T) *graph.Graph {
	g := &graph.Graph{Name: "Net", Output: "logits",
		Input: graph.Input{Value: "x", DType: weights.Int64, Shape: []graph.Size{{Name: "batch", N: 2}, {N: 3}}},
		Modules: []graph.Module{{Class: "Net"}, {Path: "embed", Class: "Embedding", Extra: "5, 4"}, {Path: "block",
			Class: "Block"}, {Path: "block.fc", Class: "Linear", Extra: "in_features=4, out_features=4, bias=True"},
			{Path: "head", Class: "Linear", Extra: "in_features=4, out_features=5, bias=False"}},
		Tensors: []graph.Tensor{{Name: "embed.weight", Role: graph.Parameter, DType: weights.Float32, Shape: []int{5,
			4}}, {Name: "block.scale", Role: graph.Parameter, DType: weights.Float32, Shape: []int{4}, Init: "ones"},
			{Name: "block.seen", Role: graph.Buffer, DType: weights.Int64, Shape: []int{}, Init: "zeros"},
			{Name: "block.fc.weight", Role: graph.Parameter, DType: weights.Float32, Shape: []int{4, 4}},
			{Name: "block.fc.bias", Role: graph.Parameter, DType: weights.Float32, Shape: []int{4}},
			{Name: "head.weight", Role: graph.Parameter, DType: weights.Float32, Shape: []int{5, 4},
				Tied: "embed.weight"}, {Name: "mask", Role: graph.Constant, DType: weights.Float32, Shape: []int{3, 1},
				Init: "ones"}}}
	for _, line := range []string{"e = embedding.default(weight=@embed.weight, indices=%x) in embed",
		"m = mul.Tensor(self=%e, other=@mask)", "s = mul.Tensor(self=%m, other=@block.scale) in block",
		"f = linear.default(input=%s, weight=@block.fc.weight, bias=@block.fc.bias) in block.fc",
		"logits = linear.default(input=%f, weight=@head.weight) in head"} {
		n, err := graph.ParseNode(line)
		require.NoError(t, err)
		g.Nodes = append(g.Nodes, n)
	}
	return g
}

func TestGraphsAreNetworks(t *testing.T) {
	n, err := FromGraph(mixed(t))
	require.NoError(t, err)
	assert.Equal(t, "Net(\n  (embed): Embedding(5, 4)\n  (block): Block(\n    (fc): Linear(in_features=4, "+
		"out_features=4, bias=True)\n  )\n  (head): Linear(in_features=4, out_features=5, bias=False)\n)", n.String())
	again, err := FromForm(n.Form().Plain())
	require.NoError(t, err)
	assert.Equal(t, n.Form(), again.Form())
	require.NoError(t, n.Check())
	assert.Equal(t, 20+4+16+4, n.Parameters(), "tied weights count once")
	out, err := n.Output()
	require.NoError(t, err)
	assert.Equal(t, Shape{3, 5}, out)
	operations, err := n.Operations()
	require.NoError(t, err)
	assert.Equal(t, int64(3*(4+4+2*16+4+2*20)), operations)

	require.NoError(t, torch.With(func(s *torch.Scope) error {
		require.NoError(t, n.Materialize(s, Placement{Random: s.NewGenerator(torch.CPU, 3)}))
		var names []string
		for _, e := range n.State() {
			names = append(names, e.Name)
		}
		assert.Equal(t, []string{"mask", "embed.weight", "block.scale", "block.seen", "block.fc.weight",
			"block.fc.bias", "head.weight"}, names)
		assert.Len(t, n.Params(), 4)
		assert.Same(t, n.Tensors()["embed.weight"], n.Tensors()["head.weight"])
		set, err := n.Save()
		require.NoError(t, err)
		twin, err := n.Clone(s)
		require.NoError(t, err)
		assert.Same(t, twin.Tensors()["embed.weight"], twin.Tensors()["head.weight"], "ties are copied")
		assert.NotSame(t, n.Tensors()["embed.weight"], twin.Tensors()["embed.weight"])
		other, err := FromGraph(mixed(t))
		require.NoError(t, err)
		require.NoError(t, other.Materialize(s, Placement{Random: s.NewGenerator(torch.CPU, 4)}))
		require.NoError(t, other.Load(set))
		forward := func(n *Network) []float32 {
			p, err := n.Program(s, torch.ProgramOptions{})
			require.NoError(t, err)
			y := p.Forward(s, torch.From(s, []int64{1, 2, 3, 0, 4, 2}, 2, 3), false, nil)
			require.NoError(t, s.Err())
			values, err := torch.Values[float32](s.Detach(y))
			require.NoError(t, err)
			return values
		}
		assert.Equal(t, forward(n), forward(other))
		assert.Equal(t, forward(n), forward(twin))
		return nil
	}))
}

// A network with named sizes takes smaller images, and then counts their operations and memory.
func TestNetworksTakeTheSizeOfTheImages(t *testing.T) {
	in := graph.Input{Value: "x", DType: weights.Float32,
		Shape: []graph.Size{{Name: "batch", N: 2}, {N: 3}, {Name: "h", N: 32}, {Name: "w", N: 32}}}
	b := graph.NewBuilder("Net", in, weights.Float32)
	x := b.Call("conv2d.default", "input", in.Value, "weight", b.Parameter("weight", "", 8, 3, 3, 3))
	b.Graph.Output = b.Call("mean.dim", "self", x, "dim", []int{2, 3})
	b.Graph.Recover(nil)
	n, err := FromGraph(b.Graph)
	require.NoError(t, err)
	large, err := n.Operations()
	require.NoError(t, err)
	require.True(t, n.TakesShape(Shape{3, 16, 16}))
	n.Resize(Shape{3, 16, 16})
	small, err := n.Operations()
	require.NoError(t, err)
	require.Equal(t, int64(2*27*8*14*14), small-8, "a convolution, and a mean of 8 channels")
	require.Equal(t, int64(2*27*8*30*30), large-8)
	require.Equal(t, Shape{3, 16, 16}, n.Input)
	require.Equal(t, 32, b.Graph.Input.Shape[2].N, "the graph that others use keeps its size")
	require.NoError(t, n.Runs(7))
	n.Resize(Shape{3, 64, 64})
	require.Equal(t, Shape{3, 16, 16}, n.Input, "sizes above the example's are not accepted")
}

// Dropout with probability 1 gives zeros, as PyTorch's does.
func TestDropoutOfEverything(t *testing.T) {
	for _, operator := range []string{"dropout.default", "feature_dropout.default"} {
		in := graph.Input{Value: "x", DType: weights.Float32, Shape: []graph.Size{{Name: "batch", N: 2}, {N: 3}}}
		b := graph.NewBuilder("Net", in, weights.Float32)
		b.Graph.Output = b.Call(operator, "input", in.Value, "p", 1.0)
		b.Graph.Recover(nil)
		n, err := FromGraph(b.Graph)
		require.NoError(t, err)
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			require.NoError(t, n.Materialize(s, Placement{}))
			p, err := n.Program(s, torch.ProgramOptions{})
			require.NoError(t, err)
			x := torch.From(s, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
			got, err := torch.Values[float32](p.Forward(s, x, true, s.NewGenerator(torch.CPU, 1)))
			require.Equal(t, make([]float32, 6), got, operator)
			return err
		}))
	}
}

// Padded channels of a transposed convolution are counted as for a convolution, whose weights have the other order.
func TestTransposedConvolutionsArePadded(t *testing.T) {
	padding := func(operator string, weight ...int) Padding {
		b := graph.NewBuilder("Net", graph.Input{Value: "x", DType: weights.Float32,
			Shape: []graph.Size{{Name: "batch", N: 2}, {N: 9}, {N: 6}, {N: 6}}}, weights.Float32)
		b.Graph.Output = b.Call(operator, "input", b.Graph.Input.Value, "weight", b.Parameter("w", "", weight...))
		n, err := FromGraph(b.Graph)
		require.NoError(t, err)
		rows, err := n.Sheet()
		require.NoError(t, err)
		require.Equal(t, int64(2*9*36*3), rows[0].Operations)
		return rows[0].Padding
	}
	require.Equal(t, padding("conv2d.default", 3, 9, 1, 1), padding("conv_transpose2d.input", 9, 3, 1, 1))
}
