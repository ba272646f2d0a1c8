package stat_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/stat"
)

// Fit solves Rosenbrock's valley as residuals, and an exponential through exact points.
func TestFit(t *testing.T) {
	x, sum := stat.Fit(func(x []float64) []float64 { return []float64{10 * (x[1] - x[0]*x[0]), 1 - x[0]} },
		[]float64{-1.2, 1}, 200)
	require.InDeltaSlice(t, []float64{1, 1}, x, 1e-5)
	require.Less(t, sum, 1e-9)

	start := []float64{1, -0.1}
	x, _ = stat.Fit(func(x []float64) (r []float64) {
		for k := range 20 {
			r = append(r, x[0]*math.Exp(x[1]*float64(k))-3*math.Exp(-0.4*float64(k)))
		}
		return r
	}, start, 200)
	require.InDeltaSlice(t, []float64{3, -0.4}, x, 1e-5)
	require.Equal(t, []float64{1, -0.1}, start, "the start is not changed")
}

// A fit takes no step to residuals that are NaN.
func TestFitWithoutNumbers(t *testing.T) {
	x, _ := stat.Fit(func(x []float64) []float64 { return []float64{math.Log(x[0]) - 2} }, []float64{0.1}, 100)
	require.InDelta(t, math.Exp(2), x[0], 1e-4)
}
