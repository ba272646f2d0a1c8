package report

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A command can be pasted into a shell unchanged.
func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{"run.seed=1": "run.seed=1", "a b": "'a b'", "it's": `'it'\''s'`,
		"": "''"} {
		require.Equal(t, want, shellWord(word))
	}
}
