package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSignFlip(t *testing.T) {
	require.Equal(t, 1.0, SignFlip(nil))
	require.Equal(t, 1.0, SignFlip([]float64{0, 0, 0}))
	require.Equal(t, 2.0/8, SignFlip([]float64{1, 2, 3}), "only all plus and all minus are as far")
	require.Equal(t, 6.0/8, SignFlip([]float64{1, -2, 3.5}), "sums of 6.5, 4.5, 2.5 and 0.5, the last is nearer")

	long := make([]float64, 20)
	for k := range long {
		long[k] = 1
	}
	require.InDelta(t, 1.0/(flipDraws+1), SignFlip(long), 1e-9, "two of a million")
}

// With random signs, a p-value below 0.05 occurs in about one of 20 cases, with exact and drawn flips.
func TestSignFlipHoldsItsLevel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{8, 18} {
		low, cases := 0, 200
		for range cases {
			values := make([]float64, n)
			for k := range values {
				values[k] = random.NormFloat64()
			}
			if SignFlip(values) <= 0.05 {
				low++
			}
		}
		require.InDelta(t, 0.05, float64(low)/float64(cases), 0.045, n)
	}
}

// Differences of accuracies have rounding errors in the last bits of the accuracies, which are large relative to small
// differences.
func TestSignFlipOfRoundedDifferences(t *testing.T) {
	a := []float64{0.8312, 0.8392, 0.6419, 0.8005, 0.9494}
	b := []float64{0.8311, 0.8394, 0.6417, 0.8007, 0.9495}
	var differences, exact []float64
	for k := range a {
		differences = append(differences, a[k]-b[k])
		exact = append(exact, math.Round(1e4*(a[k]-b[k])))
	}
	require.Equal(t, SignFlip(exact), SignFlip(differences))
}
