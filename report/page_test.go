package report

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Commands can be given to a shell as they stand.
func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{"run.seed=1": "run.seed=1", "a b": "'a b'", "it's": `'it'\''s'`,
		"": "''"} {
		require.Equal(t, want, shellWord(word))
	}
}
