package stat_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/internal/stat"
)

// SortInts sorts few and many values, of any range, like slices.Sort.
func TestSortInts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.SliceOfN(rapid.OneOf(rapid.Int64(), rapid.Int64Range(-5000, 5000),
			rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, 0})), 1, 50).Draw(t, "values")
		var values []int64
		for k := range rapid.SampledFrom([]int{1, 300}).Draw(t, "times") {
			for _, v := range drawn {
				values = append(values, v+int64(k*k))
			}
		}
		want := slices.Clone(values)
		slices.Sort(want)
		spare := stat.SortInts(values, make([]int64, rapid.IntRange(0, 20_000).Draw(t, "spare")))
		require.Equal(t, want, values)
		slices.Reverse(values)
		stat.SortInts(values, spare)
		require.Equal(t, want, values)
	})
}
