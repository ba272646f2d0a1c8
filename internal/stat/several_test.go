package stat

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The expected values are from R's p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
func TestHolm(t *testing.T) {
	require.InDeltaSlice(t, []float64{0.03, 0.06, 0.06, 0.02}, Holm([]float64{0.01, 0.04, 0.03, 0.005}), 1e-12)
	require.Equal(t, []float64{1, 1}, Holm([]float64{0.6, 0.9}))
	got := Holm([]float64{math.NaN(), 0.02})
	require.True(t, math.IsNaN(got[0]))
	require.Equal(t, 0.02, got[1])
	require.Empty(t, Holm(nil))
}

// The example is by Altman and Bland: a mean of 1.6 with the interval 0.3 to 2.9 has a p-value of about 0.016.
func TestPValueOfAnInterval(t *testing.T) {
	require.InDelta(t, 0.0158, Interval{1.6, 0.3, 2.9}.PValue(), 5e-4)
	require.InDelta(t, 0.05, Interval{1, 0, 2}.PValue(), 1e-12)
	require.True(t, math.IsNaN(Interval{1, math.NaN(), math.NaN()}.PValue()))
	require.True(t, math.IsNaN(Interval{}.PValue()))
	require.Zero(t, Interval{-1, -1, -1}.PValue())
	for _, i := range []Interval{{-9279.2, -24245.7, -247.3}, {5, 0.1, 6}, {5, -0.1, 30}, {-5, -9, 0.01}} {
		require.Equal(t, i.Low > 0 || i.High < 0, i.PValue() < 0.05, "%v", i)
	}
}

// The p-value of a crossed difference is below 5% if and only if its interval excludes zero.
func TestCrossedPValueAgreesWithItsInterval(t *testing.T) {
	for _, shift := range []float64{0, 0.5, 1, 1.7, 3} {
		a := [][]float64{{1 + shift, 2 + shift}, {4 + shift, 2 + shift}, {3 + shift, 5 + shift}}
		b := [][]float64{{1.5}, {2.5}, {4.5}}
		i := CrossedDifference(a, b)
		require.Equal(t, i.Low > 0 || i.High < 0, CrossedPValue(a, b) < 0.05, shift)
	}
}

// With two degrees of freedom the distribution has a closed form. The test agrees with the interval.
func TestTPValue(t *testing.T) {
	require.InDelta(t, 1-math.Sqrt(12.0/14), TPValue([]float64{2, 4, 6}), 1e-12)
	require.Equal(t, 1.0, TPValue([]float64{-1, 0, 1}))
	require.True(t, math.IsNaN(TPValue([]float64{1})))
	require.True(t, math.IsNaN(TPValue([]float64{0, 0})))
	require.Less(t, TPValue([]float64{2, 2}), 1e-9, "equal values have no standard error")
	require.Less(t, TPValue([]float64{2, 2 + 1e-9}), 1e-9)
	require.InDelta(t, 1-math.Sqrt(12.0/14), TPValueAbove([]float64{4, 4, 4}, 2/math.Sqrt(3)), 1e-12)
	require.InDelta(t, 1-math.Sqrt(12.0/14), TPValueAbove([]float64{2, 4, 6}, 0.1), 1e-12, "the deviation is larger")
	for shift := -3.0; shift < 3; shift += 0.25 {
		values := []float64{shift - 1, shift + 0.25, shift + 1, shift + 0.5}
		i := TInterval(values)
		require.Equal(t, i.Low > 0 || i.High < 0, TPValue(values) < 0.05, shift)
	}
}
