package goodput

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/internal/stat"
)

// squaresOf returns the squares of a batch of gradients that is cut into parts.
func squaresOf(batch [][]float64, cuts []int) (s Squares) {
	mean := func(of [][]float64) float64 {
		square := 0.0
		for k := range of[0] {
			sum := 0.0
			for _, g := range of {
				sum += g[k]
			}
			square += sum * sum / float64(len(of)*len(of))
		}
		return square
	}
	inverse, from := 0.0, 0
	for _, to := range append(slices.Clone(cuts), len(batch)) {
		s.Part += mean(batch[from:to])
		inverse += 1 / float64(to-from)
		from = to
	}
	parts := float64(len(cuts) + 1)
	s.Part, s.PartRows, s.Whole, s.Rows = s.Part/parts, parts/inverse, mean(batch), float64(len(batch))
	return s
}

// For gradients with known mean and covariance, the estimates agree with them within their own standard errors, for
// equal and unequal parts.
func TestMomentsAreUnbiased(t *testing.T) {
	const dims, draws = 5, 4000
	for name, cuts := range map[string][]int{"halves": {8}, "unequal parts": {2, 7},
		"single examples": {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}} {
		random := rand.New(rand.NewPCG(7, 1))
		mean, deviation := [dims]float64{0.3, -0.2, 0, 0.1, 0.5}, [dims]float64{1, 2, 0.5, 0.1, 1.5}
		var want Moments
		for k := range dims {
			want.Square += mean[k] * mean[k]
			want.Variance += deviation[k] * deviation[k]
		}
		var squares, variances []float64
		for range draws {
			batch := make([][]float64, 16)
			for i := range batch {
				batch[i] = make([]float64, dims)
				for k := range dims {
					batch[i][k] = mean[k] + deviation[k]*random.NormFloat64()
				}
			}
			m, ok := squaresOf(batch, cuts).Moments()
			require.True(t, ok)
			squares, variances = append(squares, m.Square), append(variances, m.Variance)
		}
		within := func(want float64, values []float64) {
			t.Helper()
			deviation := stat.Deviation(values)
			require.InDelta(t, want, stat.Mean(values), 4*deviation/math.Sqrt(draws), name)
			require.Less(t, deviation/math.Sqrt(draws), 0.1*want, "the test tells something: %s", name)
		}
		within(want.Square, squares)
		within(want.Variance, variances)
	}
}

func TestMomentsOfNothing(t *testing.T) {
	for _, s := range []Squares{{}, {1, 8, 1, 8}, {math.NaN(), 4, 1, 8}, {math.Inf(1), 4, 1, 8}} {
		_, ok := s.Moments()
		require.False(t, ok, "%v", s)
	}
}

// Average weights measurements by their age, with weights that add up to one.
func TestAverageForgets(t *testing.T) {
	var a Average
	require.Zero(t, a.Moments())
	a.Add(Moments{3, 5})
	require.InDelta(t, 3, a.Moments().Square, 1e-12, "a first value is not pulled to zero")
	require.InDelta(t, 5.0/64, a.Noise(64).Variance, 1e-12)
	for range 200 {
		a.Add(Moments{1, 1})
	}
	for range HalfLife {
		a.Add(Moments{2, 0})
	}
	require.InDelta(t, 1.5, a.Moments().Square, 1e-3)
	require.InDelta(t, 0.5, a.Moments().Variance, 1e-3)
	for range 100 {
		a.Add(Moments{-1, -1})
	}
	require.Zero(t, a.Moments(), "neither is below zero")
}

func TestSizes(t *testing.T) {
	require.Equal(t, []int{64}, Limits{Least: 64, Most: 64}.Sizes(1))
	require.Equal(t, []int{16}, Limits{Least: 8, Most: 16}.Sizes(32), "fewer images than devices")
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.IntRange(1, 500).Draw(t, "least")
		devices := rapid.IntRange(1, 20).Draw(t, "devices")
		l := Limits{Least: least, Most: least + rapid.IntRange(0, 5000).Draw(t, "more")}
		sizes := l.Sizes(devices)
		require.True(t, slices.IsSorted(sizes))
		require.Equal(t, l.Most, sizes[len(sizes)-1])
		require.GreaterOrEqual(t, sizes[0], min(l.Most, max(least, devices)))
		for _, n := range sizes {
			require.True(t, n%devices == 0 || n == l.Most)
		}
	})
}
