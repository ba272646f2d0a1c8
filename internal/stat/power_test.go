package stat

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The expected values integrate the normal distribution over the distribution of the deviation, in 30 digits, which is
// independent of the series in this package. R has the same definition: power.t.test(n = 10, sd = 1, power = 0.8,
// type = "paired") gives delta = 0.9960, and power.t.test(delta = 0.5, power = 0.8, type = "paired") gives n = 33.367.
func TestDetectableDifferences(t *testing.T) {
	for _, c := range []struct {
		n          int
		miss, want float64
	}{
		{3, 0.05, 3.26404355}, {5, 0.05, 1.681997282}, {10, 0.05, 0.9960022543}, {20, 0.05, 0.6604424098},
		{34, 0.05, 0.4950286909}, {10, 0.0125, 1.284296614}, {3, 0.0125, 6.546046684},
	} {
		require.InEpsilon(t, c.want, Detectable(1, c.n, c.miss, 0.8), 1e-8, "%d seeds, miss %v", c.n, c.miss)
		require.InEpsilon(t, 0.03*c.want, Detectable(0.03, c.n, c.miss, 0.8), 1e-8, "scales with the deviation")
	}
}

func TestPairedPower(t *testing.T) {
	require.InDelta(t, 0.8030962087, PairedPower(1, 1, 10, 0.05), 1e-9)
	require.InDelta(t, 0.9238987166, PairedPower(0.8, 1, 20, 0.05), 1e-9)
	require.InDelta(t, 0.7953648244, PairedPower(0.5, 1, 33, 0.05), 1e-9, "R: 33.367 pairs are needed for 80%")
	require.InDelta(t, 0.8077766855, PairedPower(-0.5, 1, 34, 0.05), 1e-9, "either sign")
}

func TestDetectableOfNothing(t *testing.T) {
	for name, got := range map[string]float64{"one value": Detectable(1, 1, 0.05, 0.8),
		"no spread": Detectable(0, 10, 0.05, 0.8), "power 1": Detectable(1, 10, 0.05, 1),
		"negative argument": NoncentralStudentCDF(-1, 3, 1)} {
		require.True(t, math.IsNaN(got), name)
	}
}

func TestMoreSeedsDetectLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 200).Draw(t, "n")
		miss := rapid.Float64Range(1e-4, 0.2).Draw(t, "miss")
		d := Detectable(1, n, miss, 0.8)
		if more := Detectable(1, n+1, miss, 0.8); !(more < d) || math.Abs(PairedPower(d, 1, n, miss)-0.8) > 1e-6 {
			t.Fatal(d, more)
		}
	})
}
