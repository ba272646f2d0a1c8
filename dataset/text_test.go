package dataset

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/torch"
)

// Each label is the token after its input, in all splits, for few and many different tokens, and if windows are left
// out.
func TestLabelsAreTheNextTokens(t *testing.T) {
	var text []rune
	for k := range 700 {
		text = append(text, rune('A'+k%300))
	}
	path := filepath.Join(t.TempDir(), "a.txt")
	require.NoError(t, os.WriteFile(path, []byte(string(text)), 0o600))
	for _, o := range []Options{{Tokens: Characters}, {Tokens: Characters, Limit: 7}, {}, {Limit: 9}} {
		o.Kind, o.Path, o.Context = KindText, path, 8
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			set, err := Load(s, torch.CPU, files.OS{}, o)
			require.NoError(t, err)
			whole, err := o.tokenizer(files.OS{}, func(yield func(string) bool) { yield(string(text)) })
			require.NoError(t, err)
			tokens, at := whole.encode(string(text)), 0
			for _, part := range []Split{set.Train, set.Validation, set.Test} {
				info, err := part.Images.Info()
				require.NoError(t, err)
				assert.Equal(t, map[bool]torch.DType{true: torch.Uint8, false: torch.Int32}[o.Tokens == ""], info.DType)
				in, next := valuesOf(t, s, part.Images), valuesOf(t, s, part.Labels)
				require.Len(t, in, 8*part.Count)
				for w := range part.Count {
					for int64(tokens[at]) != in[8*w] || int64(tokens[at+1]) != next[8*w] { // skip windows
						at += 8
					}
					for k := range 8 {
						require.Equal(t, int64(tokens[at+k]), in[8*w+k])
						require.Equal(t, int64(tokens[at+k+1]), next[8*w+k])
					}
					at += 8
				}
			}
			if o.Limit > 0 {
				assert.Equal(t, o.Limit, set.Train.Count)
			}
			return nil
		}))
	}
}
