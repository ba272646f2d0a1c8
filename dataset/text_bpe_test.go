package dataset

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/torch"
)

func TestTextOfBytePairs(t *testing.T) {
	folder := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	table, next := map[string]int{"aa": 256}, rune(256)
	for b := range 256 {
		r := rune(b)
		if !(r >= '!' && r <= '~' || r >= '¡' && r <= '¬' || r >= '®') {
			r, next = next, next+1
		}
		table[string(r)] = b
	}
	vocab, err := json.Marshal(table)
	require.NoError(t, err)
	put("merges.txt", "#version: 0.2\na a\n")
	o := Options{Kind: KindText, Path: put("text", strings.Repeat("aaa ", 40)), Tokens: BytePairs,
		Vocabulary: put("vocab.json", string(vocab)), Context: 4}
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		set, err := Load(s, torch.CPU, files.OS{}, o)
		require.NoError(t, err)
		assert.Len(t, set.Classes, 257)
		tokens := valuesOf(t, s, set.Train.Images)
		assert.Equal(t, []int64{256, 'a', ' ', 256}, tokens[:4], "a space stands before the next word")
		o.Vocabulary = ""
		_, err = Load(s, torch.CPU, files.OS{}, o)
		assert.ErrorContains(t, err, "vocabulary must be set for ")
		return nil
	}))
}
