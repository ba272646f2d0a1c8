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
	proposals := func(form Form, frozen func(name string) bool) (texts []string) {
		g, err := transformer.New(transformer.Config{Vocabulary: 11, Context: 8, Width: 8, Heads: 2, Depth: 2})
		require.NoError(t, err)
		for k, tensor := range g.Tensors {
			if tensor.Role == graph.Parameter && frozen(tensor.Name) {
				g.Tensors[k].Role = graph.Buffer
			}
		}
		actions, err := ProposalsOf(&model.Network{Graph: g}, form)
		require.NoError(t, err)
		for _, a := range actions {
			texts = append(texts, a.String())
		}
		return texts
	}
	all := proposals(Auto, func(string) bool { return false })
	t.Log(all)
	first := all[0][strings.Index(all[0], ":")+1:] // path of the first block
	in := func(name string) bool { return strings.HasPrefix(name, first+".") }
	left := proposals(Auto, in)
	require.NotEmpty(t, left)
	for _, a := range all {
		require.Equal(t, !strings.Contains(a, first), slices.Contains(left, a), a)
	}
	require.Empty(t, proposals(Auto, func(string) bool { return true }))

	ends := func(name string) bool { return strings.Contains(name, ".o.") || strings.Contains(name, ".down.") }
	for _, form := range []Form{Auto, Residual, Opposite, Stacked} {
		require.Equal(t, all, proposals(form, func(string) bool { return false }), form)
		require.NotContains(t, strings.Join(proposals(form, ends), " "), "deepen:", "%s: no repeatable block", form)
	}
	require.Equal(t, left, proposals(Identity, in), "graphs have no such form")
}

// Blocks are proposed only if the form of the job supports them: dropout may drop only one unit of an opposite pair.
func TestProposalsFollowTheForm(t *testing.T) {
	g, err := transformer.New(transformer.Config{Vocabulary: 11, Context: 8, Width: 8, Heads: 2, Depth: 2,
		Dropout: 0.1})
	require.NoError(t, err)
	for form, want := range map[Form]bool{Auto: true, Stacked: true, Opposite: false} {
		actions, err := ProposalsOf(&model.Network{Graph: g}, form)
		require.NoError(t, err)
		proposed := slices.ContainsFunc(actions, func(a Action) bool { return a.Kind == "deepen" })
		require.Equal(t, want, proposed, form)
	}
}
