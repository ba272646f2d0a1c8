package vocab_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/vocab"
)

// A graph's tokens hold all its parameters and operations, and each token lies between input and output.
func TestTokensOfGraphs(t *testing.T) {
	for name, want := range map[string]map[vocab.Kind]int{
		"CharGPT": {vocab.Matrix: 4*4 + 1, vocab.LayerNorm: 9, vocab.GELU: 4, vocab.Sum: 8 + 1, vocab.Attention: 4,
			vocab.Embedding: 1},
		"SmallLLaMA": {vocab.Matrix: 4*7 + 1, vocab.LayerNorm: 9, vocab.SiLU: 4, vocab.Sum: 8 + 8},
		"ViTTiny32": {vocab.Convolution: 1, vocab.Matrix: 12*4 + 1, vocab.LayerNorm: 25, vocab.GELU: 12, vocab.Sum: 24,
			vocab.Cat: 1},
		"ConvNeXt32": {vocab.Convolution: 1 + 2 + 6, vocab.Matrix: 12 + 1},
	} {
		n, err := model.Zoo(name, model.ZooOptions{})
		require.NoError(t, err)
		s, err := vocab.ReadGraph(n.Graph)
		require.NoError(t, err)
		count, parameters, operations := map[vocab.Kind]int{}, 0, int64(0)
		for k, token := range s.Tokens {
			count[token.Kind]++
			parameters, operations = parameters+token.Parameters, operations+token.Operations
			for _, before := range s.Before[k] {
				assert.Less(t, before, k)
				assert.Contains(t, s.After[before], k)
			}
			if whole, plain := token.Values(true), token.Values(false); token.OfGraphs() {
				assert.Equal(t, 1.0, plain[vocab.Other])
				assert.Equal(t, plain[1:], whole[1:len(plain)])
			} else {
				assert.Equal(t, plain, whole[:len(plain)])
			}
			for _, v := range token.Values(true) {
				assert.False(t, v != v || v > 1e3 || v < -1e3, "%s: %v", name, token)
			}
		}
		for kind, n := range want {
			assert.Equal(t, n, count[kind], "%s: %v", name, kind)
		}
		all, err := n.Operations()
		require.NoError(t, err)
		assert.Equal(t, all, operations, name)
		loose := 0 // parameters that operators read through views, such as learned positions
		for _, tensor := range n.Graph.Tensors {
			if tensor.Name == "pos.weight" || tensor.Name == "cls_token" {
				loose += tensor.Count()
			}
		}
		assert.InDelta(t, n.Parameters(), parameters, float64(loose), name)
		last := s.Tokens[len(s.Tokens)-1]
		assert.Equal(t, 0, last.After, name)
		assert.Positive(t, last.Before, name)
	}
}
