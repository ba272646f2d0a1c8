package transformer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/model/form"
	"graft/model/transformer"
	"graft/torch"
	"graft/torch/weights"
)

func TestFormOfATransformer(t *testing.T) {
	g, err := transformer.FromForm(map[string]any{"name": "Tiny", "transformer": map[string]any{
		"width": int64(8), "heads": int64(2), "groups": int64(1), "depth": int64(2), "norm": "rms",
		"positions": "rotary-pairs", "mlp": "swiglu", "untied": true, "no_bias": true, "vocabulary": int64(11),
		"context": int64(5)}})
	require.NoError(t, err)
	want, err := transformer.New(transformer.Config{Vocabulary: 11, Context: 5, Width: 8, Heads: 2, Groups: 1, Depth: 2,
		Norm: transformer.RMSNorm, Positions: transformer.RotaryPairs, MLP: transformer.SwiGLU, Untied: true,
		NoBias: true})
	require.NoError(t, err)
	assert.Equal(t, "Tiny", g.Name)
	assert.Equal(t, want.Tensors, g.Tensors)
	assert.Equal(t, want.Nodes, g.Nodes)
}

func TestFormListsEveryFault(t *testing.T) {
	_, err := transformer.FromForm(map[string]any{"layers": 1, "transformer": map[string]any{"width": "wide",
		"depth": int64(0), "heds": 2, "norm": "batch", "post": 1, "eps": "x"}})
	var faults form.Faults
	require.ErrorAs(t, err, &faults)
	assert.Len(t, faults, 7)
	_, err = transformer.FromForm(map[string]any{"transformer": map[string]any{"width": int64(8), "heads": int64(3),
		"depth": int64(1), "groups": int64(2)}})
	assert.ErrorContains(t, err, "heads is 3; must be a multiple of groups (2)")
}

// An encoder's output for a text does not depend on the padding behind the text.
func TestPaddingIsNotSeen(t *testing.T) {
	for _, task := range []transformer.Task{transformer.TextLabel, transformer.TokenLabel} {
		c := transformer.Config{Vocabulary: 9, Context: 6, Width: 8, Heads: 2, Depth: 2, Post: true, Full: true,
			Padded: true, EmbedNorm: true, Task: task, Classes: 3, DType: weights.Float64}
		g, err := transformer.New(c)
		require.NoError(t, err)
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			n, err := model.FromGraph(g)
			require.NoError(t, err)
			require.NoError(t, n.Materialize(s, model.Placement{Device: torch.CPU, DType: torch.Float64,
				Random: s.NewGenerator(torch.CPU, 1)}))
			p, err := n.Program(s, torch.ProgramOptions{})
			require.NoError(t, err)
			logits := func(width int, tokens ...int64) []float64 {
				values, err := torch.Values[float64](s.To(p.Forward(s, torch.From(s, tokens, 1, width), false, nil),
					torch.Float64, torch.CPU))
				require.NoError(t, err)
				return values
			}
			short, long := logits(3, 1, 4, 2), logits(6, 1, 4, 2, 8, 8, 8)
			assert.InDeltaSlice(t, short, long[:len(short)], 1e-12)
			assert.NotEqual(t, short, logits(3, 1, 4, 3), "all tokens are seen")
			return nil
		}))
	}
	_, err := transformer.New(transformer.Config{Vocabulary: 9, Context: 6, Width: 8, Heads: 2, Depth: 2, Padded: true})
	assert.ErrorContains(t, err, "set full")
	_, err = transformer.New(transformer.Config{Vocabulary: 9, Context: 6, Width: 8, Heads: 2, Depth: 2,
		Task: transformer.TextLabel})
	assert.ErrorContains(t, err, "classes is 0")
}
