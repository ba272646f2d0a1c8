package vision_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/model/vision"
)

// Numbers of parameters are those that timm and torchvision state for their networks.
func TestNetworksHaveTheParametersOfTheirOriginals(t *testing.T) {
	for name, parameters := range map[string]int{"ViTTiny": 5_717_416, "ViTSmall": 22_050_664, "MixerSmall": 18_528_264, "ConvNeXtTiny": 28_589_128, "EfficientNetB0": 5_288_548} {
		n, err := model.Zoo(name, model.ZooOptions{})
		require.NoError(t, err)
		assert.Equal(t, parameters, n.Parameters(), name)
		assert.Empty(t, n.Graph.Undrawn(), name)
		assert.False(t, n.Tokens(), name)
	}
}

func TestInputsThatCannotBeCutAreRefused(t *testing.T) {
	_, err := model.Zoo("ViTTiny32", model.ZooOptions{Input: model.Shape{3, 30, 32}})
	require.ErrorContains(t, err, "squares of 4")
	_, err = vision.ViT{Patch: 4, Width: 8, Heads: 2, Depth: 1}.Graph([]int{64}, 10)
	require.ErrorContains(t, err, "[channels, height, width]")
}
