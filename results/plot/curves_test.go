package plot

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/results/document"
)

func TestWhatCurvesAreMadeOf(t *testing.T) {
	none := math.NaN()
	require.Equal(t, []float64{1, 1.5, 2.5, 3.5}, rolling([]float64{1, 2, 3, 4}, 2))
	require.Equal(t, []float64{1, 1, 3}, rolling([]float64{1, none, 3}, 2))
	require.InDeltaSlice(t, []float64{none, 2, 3, 4, none}, onGrid([]float64{1, 2, 3, 4, 5.5}, []float64{2, 4}, []float64{2, 4}), 0)
	x, runs := measuredByAll([]float64{1, 2, 3}, [][]float64{{1, 2, none}, {4, 5, 6}})
	require.Equal(t, []float64{1, 2}, x)
	require.Equal(t, [][]float64{{1, 2}, {4, 5}}, runs)
	require.Equal(t, []float64{50, 100}, strayed([]float64{2, 3}, []string{"a", "b"}, []float64{0, 1, 2}, []string{"a", "b", "a"}))
	mean, low, high := banded([][]float64{{1, 5}, {3, 5}})
	require.Equal(t, []float64{2, 5}, mean)
	require.Equal(t, 5.0, low[1])
	require.Equal(t, 5.0, high[1])
	require.Less(t, low[0], 2.0)
	require.Equal(t, "1 234 567", document.Thousands(1234567))
}
