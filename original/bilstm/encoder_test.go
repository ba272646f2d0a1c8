package bilstm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/original/bilstm"
	"graft/original/bilstm/policytest"
	"graft/torch"
)

// The encoder computes the same outputs as LibTorch's bidirectional LSTM.
func TestEncodesAsLibTorch(t *testing.T) {
	v := smallVocabulary(t)
	set, in, hidden := policytest.Weights(v, policytest.Small, 1), policytest.Small.Embedding, policytest.Small.Hidden
	e, err := bilstm.NewEncoder(v, set)
	require.NoError(t, err)
	require.Equal(t, hidden, e.Hidden())
	read := []int{3, 0, 0, 2, 1, 3}
	vectors, encoded, err := e.Encode(read)
	require.NoError(t, err)
	var flat []float32
	for k, id := range read {
		require.Equal(t, v.Vectors[id], vectors[k])
		flat = append(flat, vectors[k]...)
	}
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		lstm := torch.LSTM{Bidirectional: true}
		for _, w := range set.Tensors[1:9] { // after the vectors, in PyTorch's order
			lstm.Weights = append(lstm.Weights, torch.FromWeights(s, torch.CPU, w))
		}
		zeros := func() *torch.Tensor { return s.Zeros(torch.Float32, torch.CPU, 2, 1, hidden) }
		out, _, _ := s.LSTM(lstm, torch.From(s, flat, len(read), 1, in), zeros(), zeros())
		want, err := torch.Values[float32](out)
		require.NoError(t, err)
		for k := range encoded {
			require.InDeltaSlice(t, want[k*2*hidden:(k+1)*2*hidden], encoded[k], 1e-6)
		}
		return s.Err()
	}))
	for _, id := range []int{-1, len(v.Vectors)} {
		_, _, err = e.Encode([]int{0, id})
		require.ErrorContains(t, err, "unknown token")
	}
}
