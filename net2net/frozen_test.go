package net2net

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/model/graph"
	"graft/model/transformer"
)

// Growing a layer that is not trained adds copies that training cannot change, so it is not proposed. A trained layer
// in front of a frozen one can still grow.
func TestFrozenLayersAreNotProposed(t *testing.T) {
	proposals := func(frozen func(name string) bool) (texts []string) {
		g, err := transformer.New(transformer.Config{Vocabulary: 11, Context: 8, Width: 8, Heads: 2, Depth: 2})
		require.NoError(t, err)
		for k, tensor := range g.Tensors {
			if tensor.Role == graph.Parameter && frozen(tensor.Name) {
				g.Tensors[k].Role = graph.Buffer
			}
		}
		actions, err := Proposals(&model.Network{Graph: g})
		require.NoError(t, err)
		for _, a := range actions {
			texts = append(texts, a.String())
		}
		return texts
	}
	all := proposals(func(string) bool { return false })
	t.Log(all)
	first := all[0][strings.Index(all[0], ":")+1:] // path of the first block
	in := func(name string) bool { return strings.HasPrefix(name, first+".") }
	left := proposals(in)
	require.NotEmpty(t, left)
	for _, a := range all {
		require.Equal(t, !strings.Contains(a, first), slices.Contains(left, a), a)
	}
	require.Empty(t, proposals(func(string) bool { return true }))
}
