package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/trainer/operators"
	"graft/trainer/probes"
)

// mostSaved is the largest tolerated relative drop of a predicted step after widening; predictions have errors of some
// per cent.
const mostSaved = 0.06

// uneven reports whether a network has a convolution that may get faster when it grows. The processor shows these
// kernel effects:
//
//   - The backward pass of grouped convolutions of more than 3 x 3 taps has two kernels, and the slow one takes up to
//     20 times as long: 72.9 ms for 16 channels of 28 x 28 pixels and 6 examples, 4.3 ms for 16 channels of 16 x 16
//     pixels and 30 examples.
//   - Numbers of channels that are not multiples of 8 take up to several times as long per operation.
func uneven(t *testing.T, n *model.Network) bool {
	of := func(groups, taps, out int) bool { return groups > 1 && taps > 9 || out%8 > 0 }
	if n.Graph == nil {
		for _, leaf := range n.Leaves() {
			if c, is := leaf.Layer.(model.Conv2d); is && of(c.Groups, c.Kernel.H*c.Kernel.W, c.Out) {
				return true
			}
		}
		return false
	}
	sizes, err := n.Graph.Sizes()
	require.NoError(t, err)
	for k := range n.Graph.Nodes {
		node := &n.Graph.Nodes[k]
		groups, _ := node.Arg("groups").(int64)
		if w := sizes.Of(node.Arg("weight")); len(w) == 4 && of(int(groups), w[2]*w[3], w[0]) {
			return true
		}
	}
	return false
}

// Predictions from measured operators never drop notably for a wider network, even if the wider operator was not
// measured.
func TestWiderNetworksTakeMoreTime(t *testing.T) {
	p, err := ReadProfile(files.OS{}, "../studies/growth/processor.toml")
	require.NoError(t, err)
	predictor := operators.NewDevicePredictor(&p.GraftOperators)
	step := func(n *model.Network, rows int) float64 {
		made, err := predictor.Predict(n, "", rows)
		require.NoError(t, err)
		return made.Step
	}
	all, err := probes.Draw(probes.Options{Count: 150, Seed: 5})
	require.NoError(t, err)
	widened := 0
	for _, probe := range all {
		if uneven(t, probe.Network) {
			continue
		}
		proposals, err := net2net.Proposals(probe.Network)
		require.NoError(t, err)
		before := step(probe.Network, probe.Rows)
		for _, a := range proposals {
			n := probe.Network.Sketch()
			if _, err := net2net.Apply(n, a, net2net.Options{}); a.Kind != "widen" || err != nil {
				continue
			}
			widened++
			assert.Greater(t, step(n, probe.Rows), (1-mostSaved)*before, "%s, %s, a batch of %d", probe.Network, a,
				probe.Rows)
		}
	}
	assert.Greater(t, widened, 300)
}

// Attention with queries wider than its values has no fused kernel, and the profile did not measure it. Its time is
// predicted from fused attention: the growth of a step is at most 5% off.
func TestWiderQueriesTakeMoreTime(t *testing.T) {
	p, err := ReadProfile(files.OS{}, "../studies/growth/processor.toml")
	require.NoError(t, err)
	predictor := operators.NewDevicePredictor(&p.GraftOperators)
	for name, c := range map[string]struct {
		action        string
		before, after float64 // measured steps in the profile
	}{
		"attention": {"widen:blocks.0.attention.q/1:24", 0.0043604, 0.0045601},
		"gpt":       {"widen:blocks.0.q/1:24", 0.028576, 0.029525},
	} {
		n, err := ReadNetwork(files.OS{}, "../studies/growth/"+name+"/small.toml")
		require.NoError(t, err)
		before, err := predictor.Predict(n, "", 64)
		require.NoError(t, err)
		a, err := net2net.ParseAction(c.action)
		require.NoError(t, err)
		_, err = net2net.Apply(n, a, net2net.Options{})
		require.NoError(t, err)
		after, err := predictor.Predict(n, "", 64)
		require.NoError(t, err)
		assert.InEpsilon(t, c.after/c.before, after.Step/before.Step, 0.05, name)
		assert.Positive(t, after.Unknown, "unfused attention was not measured")
	}
}
