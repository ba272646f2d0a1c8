package plot

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/stat"
	"graft/report/document"
)

func TestWhatCurvesAreMadeOf(t *testing.T) {
	none := math.NaN()
	require.Equal(t, []float64{1, 1.5, 2.5, 3.5}, rolling([]float64{1, 2, 3, 4}, 2))
	require.Equal(t, []float64{1, 1, 3}, rolling([]float64{1, none, 3}, 2))
	require.InDeltaSlice(t, []float64{none, 2, 3, 4, none},
		interpolate([]float64{1, 2, 3, 4, 5.5}, []float64{2, 4}, []float64{2, 4}), 0)
	x, runs := commonTimes([]float64{1, 2, 3}, [][]float64{{1, 2, none}, {4, 5, 6}})
	require.Equal(t, []float64{1, 2}, x)
	require.Equal(t, [][]float64{{1, 2}, {4, 5}}, runs)
	require.Equal(t, []float64{50, 100}, explorationShares([]float64{2, 3}, []string{"a", "b"}, []float64{0, 1, 2},
		[]string{"a", "b", "a"}))
	_, low, _ := meanInterval([][]float64{{1, 5}, {3, 5}}, stat.Percents)
	require.Nil(t, low, "two runs")
	mean, low, high := meanInterval([][]float64{{1, 5}, {2, 5}, {3, 5}}, stat.Percents)
	require.Equal(t, []float64{2, 5}, mean)
	require.Equal(t, 5.0, low[1])
	require.Equal(t, 5.0, high[1])
	require.Equal(t, 0.0, low[0], "the whole interval begins at −0.48")
	require.InDelta(t, 4.484, high[0], 1e-3)
	require.Equal(t, "1 234 567", document.Thousands(1234567))
}
