package net2net

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/model/graph"
	"graft/torch/weights"
)

// A block whose path is a number, as in a Sequential, is found by its path first, and by its number otherwise.
func TestBlocksWithNumbersAsPaths(t *testing.T) {
	tensor := func(name string, shape ...int) graph.Tensor {
		return graph.Tensor{Name: name, Role: graph.Parameter, DType: weights.Float32, Shape: shape, Init: "zeros"}
	}
	linear := func(module, input, result string) graph.Node {
		return graph.Node{Operator: "linear.default", Module: module, Results: []graph.Value{graph.Value(result)},
			Args: []graph.Arg{{Name: "input", Value: graph.Value(input)},
				{Name: "weight", Value: graph.Weight(module + ".weight")}}}
	}
	n, err := model.FromGraph(&graph.Graph{Name: "Net", Output: "y",
		Input: graph.Input{Value: "x", DType: weights.Float32, Shape: []graph.Size{{Name: "batch", N: 2}, {N: 4}}},
		Modules: []graph.Module{{Class: "Net"}, {Path: "0", Class: "Linear"}, {Path: "3", Class: "Block"},
			{Path: "3.up", Class: "Linear"}, {Path: "3.down", Class: "Linear"}, {Path: "4", Class: "Linear"}},
		Tensors: []graph.Tensor{tensor("0.weight", 8, 4), tensor("3.up.weight", 16, 8), tensor("3.down.weight", 8, 16),
			tensor("4.weight", 3, 8)},
		Nodes: []graph.Node{linear("0", "x", "a"), linear("3.up", "a", "b"),
			{Operator: "relu.default", Module: "3", Args: []graph.Arg{{Name: "self", Value: graph.Value("b")}},
				Results: []graph.Value{"c"}}, linear("3.down", "c", "d"),
			{Operator: "add.Tensor", Module: "3", Results: []graph.Value{"e"}, Args: []graph.Arg{
				{Name: "self", Value: graph.Value("a")}, {Name: "other", Value: graph.Value("d")}}},
			linear("4", "e", "y")}})
	require.NoError(t, err)
	actions, err := Proposals(n)
	require.NoError(t, err)
	require.Contains(t, actions, Action{Kind: "deepen", Target: "3"})
	for _, target := range []string{"3", "0"} {
		change, err := Apply(n.Sketch(), Action{Kind: "deepen", Target: target}, Options{})
		require.NoError(t, err, target)
		require.NotEqual(t, change.Before, change.After)
	}
	_, err = Apply(n.Sketch(), Action{Kind: "deepen", Target: "1"}, Options{})
	require.ErrorContains(t, err, "block 1 not found; the network has 1 repeatable blocks")
}
