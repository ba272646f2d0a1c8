package rewrite

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Shares of any number of copies add up to one, and none is below the bound that the spread sets.
func TestSharesArePositive(t *testing.T) {
	for _, copies := range []int{1, 2, 3, 4, 5, 6, 8, 12, 16, 64} {
		for _, spread := range []float64{0, 0.5, 0.9} {
			for seed := range 2000 {
				sum := 0.0
				for _, s := range shares(make([]int, copies), 1, spread, rand.New(rand.NewPCG(uint64(seed), 1))) {
					require.GreaterOrEqual(t, s*float64(copies), 1-spread-1e-9, "%d copies, spread %v, seed %d", copies,
						spread, seed)
					sum += s
				}
				require.InDelta(t, 1, sum, 1e-12)
			}
		}
	}
}
