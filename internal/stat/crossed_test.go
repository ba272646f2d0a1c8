package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The interval covers the mean in at least 95% of draws, whether rows, columns or cells vary.
func TestCrossedIntervalsHold(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	for _, scale := range [][3]float64{{1, 1, 0.1}, {1, 0, 0}, {0, 1, 0.3}, {0, 0, 1}, {0.2, 1, 1}} {
		held, draws := 0, 2000
		for range draws {
			var columns [6]float64
			for c := range columns {
				columns[c] = scale[1] * random.NormFloat64()
			}
			var rows [][]float64
			for range 5 {
				row, own := make([]float64, 6), scale[0]*random.NormFloat64()
				for c := range row {
					row[c] = own + columns[c] + scale[2]*random.NormFloat64()
				}
				rows = append(rows, row)
			}
			if i := CrossedInterval(rows); i.Low <= 0 && 0 <= i.High {
				held++
			}
		}
		require.Greater(t, float64(held)/float64(draws), 0.94, scale)
	}
}

func TestCrossedIntervalOfFew(t *testing.T) {
	one := CrossedInterval([][]float64{{1}, {2}, {3}})
	plain := TInterval([]float64{1, 2, 3})
	require.InDeltaSlice(t, []float64{plain.Mean, plain.Low, plain.High}, []float64{one.Mean, one.Low, one.High}, 1e-12)
	single := CrossedInterval([][]float64{{1, 3}})
	require.Equal(t, 2.0, single.Mean)
	require.True(t, math.IsNaN(single.Low))
	require.True(t, math.IsNaN(CrossedInterval(nil).Mean))

	a, b := [][]float64{{1, 2}, {3, 5}, {2, 2}}, [][]float64{{2}, {4}, {1}}
	there, back := CrossedDifference(a, b), CrossedDifference(b, a)
	require.InDeltaSlice(t, []float64{-back.Mean, -back.High, -back.Low},
		[]float64{there.Mean, there.Low, there.High}, 1e-12)
	require.InDelta(t, 2.5-7.0/3, there.Mean, 1e-12)
}

// Intervals also cover the mean if rows have different lengths: missing cells do not count as zero.
func TestCrossedIntervalsOfRaggedTablesHold(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	held, draws, width := 0, 2000, 0.0
	for range draws {
		var columns [6]float64
		for c := range columns {
			columns[c] = 0.1 * random.NormFloat64()
		}
		var rows [][]float64
		for r := range 6 {
			row, own := make([]float64, 3+r%4), random.NormFloat64()
			for c := range row {
				row[c] = 50 + own + columns[c] + 0.1*random.NormFloat64()
			}
			rows = append(rows, row)
		}
		i := CrossedInterval(rows)
		width += (i.High - i.Low) / float64(draws)
		if i.Low <= 50 && 50 <= i.High {
			held++
		}
	}
	require.Greater(t, float64(held)/float64(draws), 0.94)
	require.Less(t, width, 3.0, "six rows that deviate by one have about two")
}
