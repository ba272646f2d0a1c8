package report

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// With as few seeds as needed says, no difference is ever told apart with fewer.
func TestNeeded(t *testing.T) {
	require.Equal(t, []int{4, 5, 5, 6}, []int{needed(1), needed(2), needed(6), needed(20)})
}
