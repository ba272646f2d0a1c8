package figure

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/internal/stat"
)

// The axis of a share stays within 0% and 100%.
func TestAxesOfShares(t *testing.T) {
	for data, want := range map[span]span{{0, 100}: {0, 100}, {99, 100}: {98.95, 100}, {-2, 104}: {0, 100},
		{100, 100}: {90, 100}, {0, 0}: {0, 1}, {40, 60}: {39, 61}} {
		low, high := Axis{Unit: "%", Within: stat.Percents}.reach(data, room)
		require.InDelta(t, want.low, low, 1e-9, data)
		require.InDelta(t, want.high, high, 1e-9, data)
	}
}

// An axis has at least two ticks, and few enough for their labels to fit.
func TestAxesHaveTwoTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.SampledFrom([]float64{0, 0, 1, -1, 123, 1e6}).Draw(t,
			"low") * rapid.Float64Range(0, 1).Draw(t, "share")
		high := low + rapid.Float64Range(1e-3, 1e7).Draw(t, "range")
		most := rapid.IntRange(2, 9).Draw(t, "most")
		at, step := ticks(low, high, most)
		require.GreaterOrEqual(t, len(at), 2)
		require.LessOrEqual(t, len(at), most+1)
		for k, v := range at {
			require.InDelta(t, (low+high)/2, v, (high-low)/2+1e-6*step)
			require.True(t, k == 0 || v > at[k-1])
		}
	})
}

// The timeline of a job counts parameters on a low axis from zero. A constant number also gets two ticks.
func TestLowAxesOfWholeNumbers(t *testing.T) {
	parameters := Axis{Zero: true, Whole: true}
	for n := 1.0; n < 3e7; n *= 1.07 {
		low, high := parameters.reach(span{n, n}, room)
		require.GreaterOrEqual(t, len(parameters.upright(low, high, 45)), 2, n)
	}
	low, high := Axis{Whole: true}.reach(span{5, 5}, room)
	require.GreaterOrEqual(t, len(Axis{Whole: true}.upright(low, high, 45)), 2,
		"a constant that is not counted from zero")
}
