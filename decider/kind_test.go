package decider

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/torch/weights"
)

// A structural policy is told by its header, whatever its tensors are called.
func TestIsStructural(t *testing.T) {
	p, err := NewStructural(StructuralShape{}, 1)
	require.NoError(t, err)
	set, err := p.Set()
	require.NoError(t, err)
	require.True(t, IsStructural(set))
	set.Metadata = map[string]string{"format": "pt"}
	require.False(t, IsStructural(set))
	require.False(t, IsStructural(&weights.Set{}))
}
