package probes

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
)

// printOf returns a text that identifies a network.
func printOf(t *testing.T, n *model.Network) string {
	t.Helper()
	return n.String()
}

// The probes cover every family, are valid and affordable, and a seed gives the same networks.
func TestProbesAreDrawn(t *testing.T) {
	all, err := Draw(Options{Count: 120})
	require.NoError(t, err)
	require.Len(t, all, 120)
	graphs, unfused, prints, kinds := 0, 0, map[string]bool{}, map[string]bool{}
	for _, p := range all {
		small, err := affordable(p)
		require.NoError(t, err)
		require.True(t, small)
		require.Positive(t, p.Rows)
		_, err = p.Network.Output()
		require.NoError(t, err)
		if prints[printOf(t, p.Network)] = true; p.Network.Graph == nil {
			continue
		}
		graphs++
		sizes, err := p.Network.Graph.Sizes()
		require.NoError(t, err)
		for _, n := range p.Network.Graph.Nodes {
			kinds[n.Operator] = true
			if q, v := sizes.Of(n.Arg("query")), sizes.Of(n.Arg("value")); len(q) > 0 && q[len(q)-1] != v[len(v)-1] {
				unfused++
			}
		}
	}
	assert.InDelta(t, 60, graphs, 20)
	assert.Greater(t, len(prints), 90, "different networks")
	assert.Positive(t, unfused, "attention whose queries are wider than its values")
	for _, kind := range []string{"conv2d.default", "batch_norm.default", "linear.default", "layer_norm.default",
		"scaled_dot_product_attention.default", "embedding.default", "group_norm.default", "sigmoid.default"} {
		assert.True(t, kinds[kind], kind)
	}
	again, err := Draw(Options{Count: 120})
	require.NoError(t, err)
	other, err := Draw(Options{Count: 120, Seed: 2})
	require.NoError(t, err)
	same := 0
	for k := range all {
		require.Equal(t, printOf(t, all[k].Network), printOf(t, again[k].Network))
		require.Equal(t, all[k].Rows, again[k].Rows)
		if printOf(t, all[k].Network) == printOf(t, other[k].Network) {
			same++
		}
	}
	assert.Less(t, same, 5)
}
