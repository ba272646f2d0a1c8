package graph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/torch"
	"graft/torch/weights"
)

// passing returns a network with an operator that is passed on to LibTorch.
func passing(t *testing.T, node string) *Graph {
	n, err := ParseNode(node)
	require.NoError(t, err)
	return &Graph{Name: "Net", Input: Input{"x", weights.Float32, []Size{{"batch", 2}, {"", 3}}}, Output: n.Results[0],
		Modules: []Module{{Class: "Net"}}, Nodes: []Node{n}}
}

func tried(g *Graph) error {
	_, err := g.Try(Attempt{})
	return err
}

// An operator unknown to graft has the stated shapes, for batches of any size, and gradients flow through it.
func TestOperatorsArePassedOn(t *testing.T) {
	for _, line := range []string{"y = asinh.default(self=%x) -> [batch, 3]",
		"y = logaddexp.default(self=%x, other=%x) -> [batch, 3]",
		"y = renorm.default(self=%x, p=2.0, dim=0, maxnorm=1.0) -> [batch, 3]"} {
		g := passing(t, line)
		require.Equal(t, line, g.Nodes[0].String())
		require.NoError(t, g.Check(), line)
		require.NoError(t, tried(g), line)
		shapes, err := g.Shapes()
		require.NoError(t, err)
		require.Equal(t, []int{2, 3}, shapes["y"])
	}
	g := passing(t, "y = asinh.default(self=%x) -> [batch, 3]")
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n, err := g.Bind(s, torch.CPU, &weights.Set{})
		require.NoError(t, err)
		program, err := n.Program(s, torch.ProgramOptions{})
		require.NoError(t, err)
		x := s.RequireGrad(s.Full(2, torch.Float32, torch.CPU, 5, 3), true)
		s.Backward(s.Sum(program.Forward(s, x, true, nil)))
		gradient, err := torch.Values[float32](s.Grad(x))
		require.NoError(t, err)
		require.InDelta(t, 0.4472136, gradient[0], 1e-6, "1/√(1+x²)")
		return s.Err()
	}))
}

// An operator is refused if it is not a function of tensors and numbers, does not exist, or has other shapes than
// stated.
func TestOperatorsThatAreNotPassedOn(t *testing.T) {
	for line, says := range map[string]string{
		"y = asinh.default(self=%x)": "state the shape of each of " +
			"its 1 results",
		"y = relu.default(self=%x) -> [batch, 3]":                                     "remove the stated shapes",
		"y = asinh.default(self=%x) -> [length, 3]":                                   `has the size "length"`,
		"y = asinh.default(self=%x) -> [2000000000, 3]":                               "an invalid size 2000000000",
		"y = asinh.default(self=%x) -> [1, 1, 1, 1, 1, 1, 1, 1, 1]":                   "more than 8 dimensions",
		"y = rand_like.default(self=%x) -> [batch, 3]":                                "unknown operator",
		"y = fft_rfft.default(self=%x) -> [batch, 2]":                                 "unknown operator",
		"y = _softmax.default(self=%x) -> [batch, 3]":                                 "unknown operator",
		"y = asinh_.default(self=%x) -> [batch, 3]":                                   "unknown operator",
		"y = asinh.out(self=%x, out=%x) -> [batch, 3]":                                "unknown operator",
		"y = nowhere.default(self=%x) -> [batch, 3]":                                  "unknown operator",
		"y = bernoulli.default(self=%x) -> [batch, 3]":                                "unknown operator",
		"y = swapdims.default(self=%x, dim0=0, dim1=1) -> [3, batch]":                 "unknown operator",
		"y = item.default(self=%x) -> []":                                             "unknown operator",
		"y = thnn_conv2d.default(self=%x, weight=%x, kernel_size=[]) -> [batch, 3]":   "unknown operator",
		"y = max_unpool2d.default(self=%x, indices=%x, output_size=[]) -> [batch, 3]": "unknown operator",
		"y = mvlgamma.default(self=%x, p=2147483647) -> [batch, 3]":                   "unknown operator",
		"y = from_file.default(filename=\"x\") -> [3]":                                "unknown operator",
	} {
		require.ErrorContains(t, passing(t, line).Check(), says, line)
	}
	for line, says := range map[string]string{
		"y = asinh.default(self=%x) -> [batch, 4]":         "has shape [2, 3], but the network declares [2, 4]",
		"y = asinh.default(self=%x) -> [2, 3]":             "has shape [3, 3], but the network declares [2, 3]",
		"y = asinh.default(self=%x, more=1) -> [batch, 3]": "more",
	} {
		g := passing(t, line)
		require.NoError(t, g.Check(), line)
		require.ErrorContains(t, tried(g), says, line)
	}
}
