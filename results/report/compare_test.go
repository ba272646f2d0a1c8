package report

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// With as few seeds as needed says, no difference is ever told apart with fewer.
func TestNeeded(t *testing.T) {
	require.Equal(t, []int{4, 5, 5, 6}, []int{seedsNeeded(1), seedsNeeded(2), seedsNeeded(6), seedsNeeded(20)})
}
