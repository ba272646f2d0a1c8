package vision_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/model/graph"
	"graft/model/vision"
	"graft/torch"
	"graft/torch/weights"
)

// Parameter counts equal the counts that timm and torchvision state.
func TestNetworksHaveTheParametersOfTheirOriginals(t *testing.T) {
	for name, parameters := range map[string]int{"ViTTiny": 5_717_416, "ViTSmall": 22_050_664, "MixerSmall": 18_528_264,
		"ConvNeXtTiny": 28_589_128, "EfficientNetB0": 5_288_548} {
		n, err := model.Zoo(name, model.ZooOptions{})
		require.NoError(t, err)
		assert.Equal(t, parameters, n.Parameters(), name)
		assert.Empty(t, n.Graph.Undrawn(), name)
		assert.False(t, n.Tokens(), name)
	}
}

func TestInputsThatCannotBeCutAreRefused(t *testing.T) {
	_, err := model.Zoo("ViTTiny32", model.ZooOptions{Input: model.Shape{3, 30, 32}})
	require.ErrorContains(t, err, "patches of 4")
	_, err = vision.ViT{Patch: 4, Width: 8, Heads: 2, Depth: 1}.Graph([]int{64}, 10)
	require.ErrorContains(t, err, "[channels, height, width]")
}

// In train mode, stochastic depth drops an example's whole branch, or scales it to keep the mean. In eval mode, it
// keeps the branch.
func TestStochasticDepthDropsExamples(t *testing.T) {
	const p, rows, each = 0.25, 400, 12
	b := graph.NewBuilder("Net", graph.Input{Value: "x", DType: weights.Float32,
		Shape: []graph.Size{{Name: "batch", N: 2}, {N: 3}, {N: 2}, {N: 2}}}, weights.Float32)
	b.Graph.Output = b.StochasticDepth("path", "x", p)
	b.Graph.Recover(nil)
	require.NoError(t, b.Graph.Check())
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n, err := b.Graph.Bind(s, torch.CPU, &weights.Set{})
		require.NoError(t, err)
		program, err := n.Program(s, torch.ProgramOptions{})
		require.NoError(t, err)
		x := s.Zeros(torch.Float32, torch.CPU, rows, 3, 2, 2)
		s.Uniform(x, 1, 2, s.NewGenerator(torch.CPU, 1))
		given, err := torch.Values[float32](x)
		require.NoError(t, err)
		kept, err := torch.Values[float32](program.Forward(s, x, false, nil))
		require.NoError(t, err)
		require.Equal(t, given, kept)
		trained, err := torch.Values[float32](program.Forward(s, x, true, s.NewGenerator(torch.CPU, 2)))
		require.NoError(t, err)
		dropped := 0
		for k := range rows {
			scale := float32(1 / (1 - p))
			if trained[each*k] == 0 {
				scale = 0
				dropped++
			}
			for at := each * k; at < each*(k+1); at++ {
				require.InDelta(t, given[at]*scale, trained[at], 1e-6)
			}
		}
		require.InDelta(t, p*rows, dropped, 50, "five deviations are 43")
		return nil
	}))
	e, err := model.Zoo("EfficientNetB0", model.ZooOptions{})
	require.NoError(t, err)
	assert.Contains(t, e.String(), "(stochastic_depth): StochasticDepth(p=0.025, mode=row)")
}
