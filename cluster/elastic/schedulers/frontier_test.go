package schedulers

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The hull is convex, time falls along it, and no point lies below it.
func TestLowerHull(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		var list []point
		for range 1 + r.IntN(30) {
			list = append(list, point{share: float64(1+r.IntN(10)) / 10, slots: float64(1 + r.IntN(20))})
		}
		slices.SortStableFunc(list, func(a, b point) int {
			return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(a.slots, b.slots))
		})
		hull := lowerHull(list)
		require.Equal(t, list[0], hull[0], "the cheapest point")
		for k := 1; k < len(hull); k++ {
			require.Less(t, hull[k].slots, hull[k-1].slots)
			require.Less(t, hull[k-1].share, hull[k].share)
			require.True(t, k == 1 || slope(hull[k-2], hull[k-1]) < slope(hull[k-1], hull[k])+1e-9,
				"convex up to rounding")
		}
		for _, p := range list {
			require.GreaterOrEqual(t, p.slots, at(hull, p.share)-1e-9)
		}
	}
	require.Empty(t, lowerHull(nil))
}

// at returns the height of a hull, which is constant behind its end.
func at(hull []point, share float64) float64 {
	for k := 1; k < len(hull); k++ {
		if share <= hull[k].share {
			return hull[k].slots + slope(hull[k-1], hull[k])*(share-hull[k].share)
		}
	}
	return hull[len(hull)-1].slots
}
