package axes

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model/transformer"
)

// The index in an axis's name looks like the index of a head, so the meaning says what the axis counts.
func TestMeaningsOfAxes(t *testing.T) {
	small := transformer.Config{Vocabulary: 11, Context: 5, Width: 12, Heads: 4, Depth: 2}
	grouped := small
	grouped.Groups, grouped.Size, grouped.MLP, grouped.Untied = 2, 6, transformer.SwiGLU, true
	rotary := grouped
	rotary.Positions = transformer.RotaryHalves
	stacked := small
	stacked.Stacked = true
	stream := "width of the residual stream, which all blocks share"
	hidden := "hidden width of the feed-forward in blocks.0"
	for name, c := range map[string]struct {
		config transformer.Config
		want   map[string]string
	}{
		"stacked queries, keys and values": {stacked, map[string]string{"tok": stream, "blocks.0.up": hidden,
			"blocks.1.qkv/0": "heads of the attention in blocks.1",
			"blocks.1.qkv/1": "size of a head's queries and keys of the attention in blocks.1",
			"blocks.1.qkv/2": "size of a head's values of the attention in blocks.1"}},
		"grouped heads": {grouped, map[string]string{"tok": stream, "blocks.0.up": hidden,
			"blocks.0.q/0": "groups of heads with common keys and values of the attention in blocks.0",
			"blocks.0.q/1": "heads per group of the attention in blocks.0",
			"blocks.0.q/2": "size of a head's queries and keys of the attention in blocks.0",
			"blocks.0.v/1": "size of a head's values of the attention in blocks.0"}},
		"rotary positions": {rotary, map[string]string{
			"blocks.0.q/0": "groups of heads with common keys and values of the attention in blocks.0",
			"blocks.0.q/2": "1/2 of the size of a head's queries and keys of the attention in blocks.0 and 1 more"}},
	} {
		g, err := transformer.New(c.config)
		require.NoError(t, err)
		a, err := Read(g)
		require.NoError(t, err)
		for axis, want := range c.want {
			term, err := a.Named(axis)
			require.NoError(t, err, "%s: %s", name, axis)
			require.Equal(t, want, a.Meaning(term), "%s: %s", name, axis)
		}
	}
}

func TestMeaningsOfArchives(t *testing.T) {
	for name, want := range map[string]map[string]string{
		"resnet18": {"layer1.0.conv1": "channels of layer1.0.conv1, read by layer1.0.conv2"},
		"lstm":     {"embed": "width of the embedding embed", "lstm/1": "hidden units of lstm"},
		"vit_mha":  {"blocks.0.attn/1": "heads of the attention in blocks.0"},
		"llama":    {"layers.0.self_attn.q_proj/1": "heads per group of the attention in layers.0"},
	} {
		a, err := Read(archive(t, name))
		require.NoError(t, err)
		for axis, meaning := range want {
			term, err := a.Named(axis)
			require.NoError(t, err, name)
			require.Equal(t, meaning, a.Meaning(term), "%s: %s", name, axis)
		}
	}
}
