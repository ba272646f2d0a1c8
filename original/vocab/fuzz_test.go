package vocab_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/original/vocab"
)

// Parsing gives an error or a consistent vocabulary, which reads back the same after a write.
func FuzzParse(f *testing.F) {
	var good bytes.Buffer
	require.NoError(f, built(f, "FeedForwardNet").Format(&good))
	f.Add(good.Bytes())
	f.Add([]byte(`{"format": "graft vocabulary", "version": 1, "keys": [{"key": "a", "id": 0}, {"key": "b", "id": ` +
		`0}], "vectors": [[-0.0, 1e-46]]}`))
	f.Add([]byte(`{"format": "graft vocabulary", "version": 1, "keys": [{"key": "\ud800", "id": 1e0}], "vectors": ` +
		`[[1], null]}`))
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

// Reading the original's ids gives an error or tokens that have vectors, whatever the file contains.
func FuzzReadLegacyIDs(f *testing.F) {
	folder := f.TempDir()
	require.NoError(f, built(f, "FeedForwardNet").WritePickles(files.OS{}, filepath.Join(folder, "some")))
	ids := filepath.Join(folder, "some.ids.pkl")
	good, err := os.ReadFile(ids)
	require.NoError(f, err)
	vectors, err := os.ReadFile(filepath.Join(folder, "some.embeddings.pkl"))
	require.NoError(f, err)
	for _, text := range []string{string(good), "(dp0\nVReLU()\nI3\ns.", "(dp0\nVReLU()\nV3\ns.", "N.", ""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		mine := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(mine, "some.embeddings.pkl"), vectors, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(mine, "some.ids.pkl"), data, 0o600))
		v, err := vocab.Read(files.OS{}, mine)
		if err != nil {
			return
		}
		for _, e := range v.Entries {
			require.Contains(t, v.Keys(e.ID), e.Key)
			require.Len(t, v.Vectors[e.ID], v.Size())
		}
	})
}
