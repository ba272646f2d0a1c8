package rewrite

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/transformer"
	"graft/torch"
	"graft/torch/weights"
	"graft/tracing/axes"
)

func (x *subject) deepen(path string, how Branches) *Plan {
	a, err := axes.Read(x.n.Graph)
	require.NoError(x.t, err)
	plan, err := Deepen(a, path, how)
	require.NoError(x.t, err)
	x.n, err = plan.Grow(x.s, x.n)
	require.NoError(x.t, err)
	return plan
}

func TestDeeperNetworksOfTheReferenceKeepTheFunction(t *testing.T) {
	for _, g := range growths(t) {
		if g.After.Depth == g.Before.Depth || g.DType == "float32" {
			continue
		}
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			net, err := transformer.New(g.Before.config(weights.Float64))
			require.NoError(t, err)
			n, err := net.Bind(s, torch.CPU, complete(t, net, readState(t, g.path+".before.pt")))
			require.NoError(t, err)
			x := &subject{t, s, n}
			for k := range g.After.Depth - g.Before.Depth {
				x.deepen(fmt.Sprintf("blocks.%d", k),
					map[bool]Branches{true: OppositeBranches}[g.Name == "depth_pairs_2_3"])
			}
			assert.Less(t, distance(g.LogitsBefore, x.logits(g.IDs)), 1e-12, g.Name)
			want, err := transformer.New(g.After.config(weights.Float64))
			require.NoError(t, err)
			for k := range want.Modules {
				if want.Modules[k].Class == "LayerNorm" { // changes in turn give epsilons with other last digits
					want.Modules[k].Extra = x.n.Graph.Modules[k].Extra
				}
			}
			assert.Equal(t, want.Modules, x.n.Graph.Modules, g.Name)
			for k := range want.Tensors {
				want.Tensors[k].Init = x.n.Graph.Tensors[k].Init // GPT's initialisation divides by the number of blocks
			}
			assert.Equal(t, want.Tensors, x.n.Graph.Tensors, g.Name)
			return nil
		}))
	}
}
