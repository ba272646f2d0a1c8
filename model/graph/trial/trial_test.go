package trial

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/model/graph"
	"graft/torch/weights"
)

// chain returns a network of operators on floats of two rows and three columns.
func chain(t testing.TB, lines ...string) *graph.Graph {
	g := &graph.Graph{Name: "Net", Input: graph.Input{Value: "x", DType: weights.Float32,
		Shape: []graph.Size{{Name: "batch", N: 2}, {N: 3}}}, Modules: []graph.Module{{Class: "Net"}}}
	for _, line := range lines {
		n, err := graph.ParseNode(line)
		require.NoError(t, err, line)
		g.Nodes = append(g.Nodes, n)
		g.Output = n.Results[0]
	}
	return g
}

func try(t testing.TB, g *graph.Graph, l Limits) (*graph.Output, error) {
	return Run(context.Background(), files.OS{}, g, graph.Attempt{Gradients: true}, l)
}

// A trial returns the network's output.
func TestTrialComputes(t *testing.T) {
	g := chain(t, "y = add.Scalar(self=%x, other=1.5)")
	out, err := Run(t.Context(), files.OS{}, g,
		graph.Attempt{Shape: []int{1, 3}, Values: []float64{1, 2, 3}, Weights: &weights.Set{}}, Limits{})
	require.NoError(t, err)
	require.Equal(t, &graph.Output{Shape: []int{1, 3}, Values: []float32{2.5, 3.5, 4.5}}, out)
	require.NoError(t, Passes(t.Context(), files.OS{}, g, nil))
}

// A trial that exceeds its memory or time limit is an error, and so are arguments that LibTorch's kernels do not check.
func TestTrialsThatFail(t *testing.T) {
	const small, short = 256 << 20, time.Second
	product := "a = ones.default(size=[1500, 1500])"
	for k := range 60 {
		product += fmt.Sprintf("\n%c%d = mm.default(self=%%a, mat2=%%a)", 'b', k)
	}
	for line, says := range map[string]string{
		product: "operator mm.default ended the trial process: the run needs more than 1s of processor time",
		"y = ones.default(size=[2, 3, 8, 8])\n" +
			"z = tile.default(self=%y, dims=[1000, 400])": "the limit for a trial of this network is 0.25 GiB",
		"y = reflection_pad1d.default(self=%x, padding=[])": "argument padding: a list of 0 items, " +
			"where 2 are needed",
		"y = zeros.default(size=[0, 3])\nz = _weight_norm.default(v=%y, g=%y)": "a tensor is empty",
		"y = zeros.default(size=[40000, 40000])":                               "GiB",
	} {
		_, err := try(t, chain(t, strings.Split(line, "\n")...), Limits{Memory: small, Time: short})
		require.ErrorContains(t, err, says, line)
		t.Log(err)
	}
}

// Values that double are refused by their shapes, before memory is allocated.
func TestDoublingIsRefused(t *testing.T) {
	for doublings, says := range map[int]string{33: "three quarters of this machine's memory",
		60: "too large for the memory of any machine", 70: "too large for the memory of any machine"} {
		lines := []string{"y0 = cat.default(tensors=[%x, %x])"}
		for k := range doublings {
			lines = append(lines, fmt.Sprintf("y%d = cat.default(tensors=[%%y%d, %%y%d])", k+1, k, k))
		}
		_, err := try(t, chain(t, lines...), Limits{})
		require.ErrorContains(t, err, says)
	}
}

// A signal that ends the process gives an error with the signal's name, and does not affect the next trial.
func TestFaultsAreErrors(t *testing.T) {
	g := chain(t, "y = relu.default(self=%x)")
	t.Setenv(asDying, "1")
	_, err := try(t, g, Limits{})
	found := new(Ended)
	require.ErrorAs(t, err, &found)
	require.Equal(t, "SIGSEGV", found.Cause)
	require.ErrorContains(t, err, "the network ended the trial process: SIGSEGV; the network cannot run")
	t.Setenv(asDying, "")
	_, err = try(t, g, Limits{})
	require.NoError(t, err)
}

// A cancelled trial returns the cause.
func TestTrialsCanBeCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	cancel(reason)
	_, err := Run(ctx, files.OS{}, chain(t, "y = relu.default(self=%x)"), graph.Attempt{}, Limits{})
	require.ErrorIs(t, err, reason)
}

// Operators that split a tensor into too many parts are refused before their shapes take memory.
func TestManyPartsAreRefused(t *testing.T) {
	for _, line := range []string{"y = unbind.int(self=%e, dim=0)", "y = split.Tensor(self=%e, split_size=1)",
		"y = split.Tensor(self=%e, split_size=0)", "y = chunk.default(self=%e, chunks=10000000)",
		"y = chunk.default(self=%e, chunks=0)"} {
		g := chain(t, "e = expand.default(self=%x, size=[100000000, 2, 3])", line)
		_, err := g.Shapes()
		require.Error(t, err, line)
		require.Contains(t, err.Error(), "expected a", line)
	}
}

// A training step holds the outputs, their softmax and its gradient, and the gradients of the weights.
func TestTrainingNeedsMoreThanAPass(t *testing.T) {
	require.Equal(t, 8.0, graph.Need{Peak: 5, Weights: 1, Output: 2}.Training())
	require.Equal(t, 50.0, graph.Need{Peak: 50, Weights: 1, Output: 2}.Training())
	g := chain(t, "y = add.Scalar(self=%x, other=1.5)")
	need, err := g.Needs(nil)
	require.NoError(t, err)
	require.Equal(t, 4.0*2*3, need.Output)
}
