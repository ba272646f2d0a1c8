package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model"
)

// WithClasses changes only the last linear layer, of a copy of the network.
func TestWithClasses(t *testing.T) {
	for _, name := range []string{"ConvSmall", "MLP", "ResNet18", "VGG11BN"} {
		n := fromZoo(t, name)
		was := n.String()
		other, err := n.WithClasses(7)
		require.NoError(t, err, name)
		out, err := other.Output()
		require.NoError(t, err)
		require.Equal(t, model.Shape{7}, out)
		require.Equal(t, was, n.String(), "the first is as it was")
		want, err := model.Zoo(name, model.ZooOptions{Classes: 7})
		require.NoError(t, err)
		require.Equal(t, want.String(), other.String())
	}
	n, err := model.FromForm(map[string]any{"input": []any{int64(3), int64(8), int64(8)},
		"layers": []any{"Conv2d(3, 4, 3)", "ReLU()"}})
	require.NoError(t, err)
	_, err = n.WithClasses(7)
	require.ErrorContains(t, err, "expected 7 classes, but graft found no final linear layer to resize")
}
