package lint

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The whole tree keeps every rule.
func TestHouse(t *testing.T) {
	tree, err := Load("../..")
	require.NoError(t, err)
	require.NotEmpty(t, tree.Module, "go.mod of the tree was not found")
	require.Greater(t, len(tree.GoFiles()), 10, "the tree was not read")
	var lines []string
	for _, found := range Check(tree, Rules()) {
		lines = append(lines, found.String())
	}
	if len(lines) > 0 {
		t.Errorf("%d places break a rule of the house:\n%s", len(lines), strings.Join(lines, "\n"))
	}
}
