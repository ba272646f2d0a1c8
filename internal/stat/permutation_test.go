package stat

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The p-values of few values can be counted by hand.
func TestPermutationOfFewValues(t *testing.T) {
	for name, c := range map[string]struct {
		a, b []float64
		want float64
	}{
		"nothing":           {nil, []float64{1, 2}, 1},
		"one against one":   {[]float64{1}, []float64{100}, 1},
		"two against two":   {[]float64{1, 2}, []float64{8, 9}, 2. / 6},
		"four against four": {[]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2. / 70},
		"all equal":         {[]float64{0.1, 0.1, 0.1}, []float64{0.1, 0.1, 0.1}, 1},
		"one of many":       {[]float64{9}, []float64{1, 2, 3, 4}, 1. / 5},
		"within":            {[]float64{1, 4}, []float64{2, 3}, 1},
	} {
		require.InDelta(t, c.want, Permutation(c.a, c.b, 1), 1e-9, name)
		require.InDelta(t, c.want, Permutation(c.b, c.a, 1), 1e-9, name)
	}
}

// For equal distributions, at most about one test in 20 is significant, with all or some permutations. Samples far
// apart always differ significantly.
func TestPermutationIsRightAsOftenAsItSays(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	sample := func(n int, mean float64) []float64 {
		values := make([]float64, n)
		for k := range values {
			values[k] = mean + random.NormFloat64()
		}
		return values
	}
	for _, n := range []int{5, 20} {
		wrong := 0
		for range 300 {
			if Permutation(sample(n, 0), sample(n, 0), 1) <= 0.05 {
				wrong++
			}
		}
		require.Less(t, wrong, 30, "%d values: 15 are expected", n)
		for range 20 {
			require.LessOrEqual(t, Permutation(sample(n, 0), sample(n, 8), 1), 0.05)
		}
	}
	a, b := sample(30, 0), sample(30, 0.5)
	require.Equal(t, Permutation(a, b, 7), Permutation(a, b, 7))
}
