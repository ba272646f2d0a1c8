package stat

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The t-test tests differences with a spread, the sign-flip test those without.
func TestPairedP(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		want   float64
	}{
		"a spread":            {[]float64{2, 4, 6}, 1 - math.Sqrt(12.0/14)},
		"a mean of zero":      {[]float64{-1, 0, 1}, 1},
		"a small spread":      {[]float64{2, 2, 2 + 1e-5}, TPValue([]float64{2, 2, 2 + 1e-5})},
		"three equal":         {[]float64{2, 2, 2}, 2. / 8},
		"equal and negative":  {[]float64{-2, -2, -2}, 2. / 8},
		"equal up to a digit": {[]float64{0.2, 0.2, 0.3 - 0.1}, 2. / 8},
		"six equal":           {[]float64{1, 1, 1, 1, 1, 1}, 2. / 64},
		"zeros":               {[]float64{0, 0, 0}, 1},
		"one":                 {[]float64{3}, 1},
		"none":                {nil, 1},
	} {
		require.InDelta(t, c.want, PairedP(c.values), 1e-12, name)
	}
	require.Less(t, PairedP([]float64{2, 2, 2 + 1e-5}), 1e-9)
}

// One image of 50,000 is a difference, also next to rounding. Sums in another order are not.
func TestDifferenceWithoutRounding(t *testing.T) {
	require.Zero(t, Difference(0.1+0.2, 0.3))
	require.Zero(t, Difference(0, 0))
	require.Equal(t, -2.0, Difference(1, 3))
	require.Equal(t, 1e-9, Difference(1e-9, 0))
	var equal []float64
	for _, right := range []float64{33425, 46672, 27656, 41959} {
		equal = append(equal, Difference(right/50000, (right-1)/50000))
	}
	require.True(t, EqualDifferences(equal))
	require.Equal(t, 0.125, PairedP(equal))
	require.False(t, EqualDifferences([]float64{2, 2, 2 + 1e-5}))
}
