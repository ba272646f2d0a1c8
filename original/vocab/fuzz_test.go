package vocab_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/original/vocab"
)

// A file ends in an error, or in a vocabulary whose parts fit and which is the same
// after it was written and read again.
func FuzzParse(f *testing.F) {
	var good bytes.Buffer
	require.NoError(f, built(f, "FeedForwardNet").Format(&good))
	f.Add(good.Bytes())
	f.Add([]byte(`{"format": "graft vocabulary", "version": 1, "keys": [{"key": "a", "id": 0}, {"key": "b", "id": 0}], "vectors": [[-0.0, 1e-46]]}`))
	f.Add([]byte(`{"format": "graft vocabulary", "version": 1, "keys": [{"key": "\ud800", "id": 1e0}], "vectors": [[1], null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := vocab.Parse(data)
		if err != nil {
			return
		}
		for _, e := range v.Entries {
			require.Contains(t, v.Keys(e.ID), e.Key)
			require.Len(t, v.Vectors[e.ID], v.Size())
		}
		var again bytes.Buffer
		require.NoError(t, v.Format(&again))
		twin, err := vocab.Parse(again.Bytes())
		require.NoError(t, err)
		require.Equal(t, v, twin)
	})
}
