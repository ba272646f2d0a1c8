package transformer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/form"
	"graft/model/transformer"
)

func TestFormOfATransformer(t *testing.T) {
	g, err := transformer.FromForm(map[string]any{"name": "Tiny", "transformer": map[string]any{
		"width": int64(8), "heads": int64(2), "groups": int64(1), "depth": int64(2), "norm": "rms", "positions": "rotary-pairs", "mlp": "swiglu", "untied": true, "no_bias": true, "vocabulary": int64(11), "context": int64(5)}})
	require.NoError(t, err)
	want, err := transformer.New(transformer.Config{Vocabulary: 11, Context: 5, Width: 8, Heads: 2, Groups: 1, Depth: 2, Norm: transformer.RMSNorm, Positions: transformer.RotaryPairs, MLP: transformer.SwiGLU, Untied: true, NoBias: true})
	require.NoError(t, err)
	assert.Equal(t, "Tiny", g.Name)
	assert.Equal(t, want.Tensors, g.Tensors)
	assert.Equal(t, want.Nodes, g.Nodes)
}

func TestFormListsEveryFault(t *testing.T) {
	_, err := transformer.FromForm(map[string]any{"layers": 1, "transformer": map[string]any{"width": "wide", "depth": int64(0), "heds": 2, "norm": "batch", "post": 1, "eps": "x"}})
	var faults form.Faults
	require.ErrorAs(t, err, &faults)
	assert.Len(t, faults, 7)
	_, err = transformer.FromForm(map[string]any{"transformer": map[string]any{"width": int64(8), "heads": int64(3), "depth": int64(1), "groups": int64(2)}})
	assert.ErrorContains(t, err, "3 heads are not a multiple of 2 groups")
}
