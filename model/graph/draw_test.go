package graph

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/torch/weights"
)

// custom returns a graph of custom modules: a table of positions, a token, an RMS norm, a projection as a product, a
// gate, and tensors whose initial values cannot be derived.
func custom(t *testing.T) *Graph {
	g := &Graph{Name: "Own", Input: Input{"x", weights.Float32, []Size{{"batch", 2}, {"", 3}, {"", 4}}},
		Modules: []Module{{Class: "Own"}}}
	tensor := func(name string, role Role, shape ...int) {
		g.Tensors = append(g.Tensors, Tensor{Name: name, Role: role, DType: weights.Float32, Shape: shape})
	}
	tensor("pos", Parameter, 1, 3, 4)
	tensor("shift", Parameter, 4)
	tensor("norm", Parameter, 4)
	tensor("proj", Parameter, 4, 6)
	tensor("turned", Parameter, 6, 6)
	tensor("gate", Parameter, 1)
	tensor("kinds", Parameter, 5, 6)
	tensor("mask", Constant, 3, 6)
	tensor("odd", Parameter, 6)
	for _, line := range []string{
		"a = add.Tensor(self=%x, other=@pos)", "b = add.Tensor(self=%a, other=@shift)",
		"c = view.default(self=@norm, size=[1, 1, 4])", "d = mul.Tensor(self=%b, other=%c)",
		"e = matmul.default(self=%d, other=@proj)", "f = t.default(self=@turned)",
		"h = matmul.default(self=%e, other=%f)", "i = sigmoid.default(self=@gate)", "j = mul.Tensor(self=%h, other=%i)",
		"k = mul.Tensor(self=%j, other=@mask)",
		"l = maximum.default(self=%k, other=@odd)",
	} {
		n, err := ParseNode(line)
		require.NoError(t, err)
		g.Nodes = append(g.Nodes, n)
	}
	g.Output = "l"
	return g
}

// The use of a custom module's parameter determines how it is drawn. Tensors that are not drawn come from a file.
func TestParametersAreDrawnByTheirUse(t *testing.T) {
	g := custom(t)
	inits := g.usual()
	half, sixth := fmt.Sprint("uniform ", 0.5), fmt.Sprint("uniform ", 0.4082482904638631)
	want := map[string]string{"pos": "normal 0.02", "shift": "zeros", "norm": "ones", "proj": half, "turned": sixth,
		"gate": "zeros"}
	for name, init := range want {
		require.Equal(t, init, inits[name], name)
	}
	require.Equal(t, []string{"kinds", "mask", "odd"}, g.Undrawn(),
		"kinds is not read, mask is not trained, and nothing is known of maximum")
	one, err := g.Draw(1)
	require.NoError(t, err)
	two, err := g.Draw(2)
	require.NoError(t, err)
	require.NotEqual(t, one.Tensors[0].Data, two.Tensors[0].Data, "positions are drawn from the seed")
	require.Equal(t, one.Tensors[2].Data, two.Tensors[2].Data, "a norm begins with ones")
}
