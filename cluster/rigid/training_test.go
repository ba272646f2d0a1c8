package rigid

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTrainingOptions(t *testing.T) {
	for want, o := range map[string]Training{
		"training.networks has 0 entries for 1 models": {Models: []string{"a"}},
		"training.batches has 2 entries for 0 models":  {Batches: []int{1, 2}},
		"training.batches: got -1":                     {Batches: []int{-1}},
		`duplicate model "a"; remove one`:              {Models: []string{"a", "a"}, Networks: []string{"MLP", "MLP"}},
		"nodes_per_rack is -1":                         {Rack: -1},
		"bandwidth is -1":                              {Bandwidth: -1},
	} {
		require.ErrorContains(t, o.Validate(), want)
	}
	o := Training{Models: []string{"a"}, Networks: []string{"MLP"}, Rack: 4}
	o.EnsureDefaults()
	require.NoError(t, o.Validate())
	require.Equal(t, "h100", o.Profile)
	tree, err := o.tree(9)
	require.NoError(t, err)
	require.Equal(t, []int{3, 4}, []int{tree.Racks, tree.Servers})
	require.Equal(t, 4*12.5e9, tree.Uplink)
	none := Training{}
	none.EnsureDefaults()
	require.Equal(t, Training{}, none, "no models, no step times")
}
