package stat_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/internal/stat"
)

// values draws some finite numbers.
func values(t *rapid.T, least int) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), least, 40).Draw(t, "values")
}

func TestMeansOfKnownValues(t *testing.T) {
	v := []float64{2, 4, 4, 4, 5, 5, 7, 9}
	mean, deviation := stat.Population(v)
	require.Equal(t, []float64{5, 5, 5, 2}, []float64{stat.Mean(v), stat.DividedMean(v), mean, deviation})
	require.InDelta(t, math.Sqrt(32./7), stat.Deviation(v), 1e-15)
	require.True(t, math.IsNaN(stat.Mean(nil)) && math.IsNaN(stat.Deviation(nil)) &&
		math.IsNaN(stat.Deviation([]float64{1})) && math.IsNaN(stat.Jain(nil)))
	require.Zero(t, stat.DividedMean(nil))
	require.InDelta(t, 1./4, stat.Jain([]float64{3, 0, 0, 0}), 1e-15)
	require.InDelta(t, 1, stat.Jain([]float64{3, 3, 3}), 1e-15)
}

func TestRounding(t *testing.T) {
	for v, want := range map[float64]float64{-0.3: -0.3, 0.29995: 0.3, 0.12344: 0.1234, -0.12345: -0.1235,
		math.Inf(1): math.Inf(1), 1e305: 1e305, 0: 0} {
		require.Equal(t, want, stat.Round(v, 4), v)
	}
	require.True(t, math.IsNaN(stat.Round(math.NaN(), 4)))
	require.False(t, math.Signbit(stat.Round(-0.00001, 4)))
}

// Both means agree, and deviations follow scale and shift.
func TestDeviationsScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(t, 2)
		scaled := make([]float64, len(v))
		for k := range v {
			scaled[k] = 3 - 2*v[k]
		}
		const rounding = 1e-6
		require.InDelta(t, stat.Mean(v), stat.DividedMean(v), rounding)
		require.InDelta(t, 2*stat.Deviation(v), stat.Deviation(scaled), rounding)
		_, population := stat.Population(v)
		n := float64(len(v))
		require.InDelta(t, stat.Deviation(v)*math.Sqrt((n-1)/n), population, rounding)
	})
}

func TestQuantilesOfKnownValues(t *testing.T) {
	v := []int64{10, 20, 30, 40}
	require.Equal(t, []float64{10, 25, 40}, []float64{stat.Quantile(v, 0), stat.Quantile(v, 0.5), stat.Quantile(v, 1)})
	require.InDelta(t, 37, stat.Quantile(v, 0.9), 1e-12)
	require.Equal(t, []int64{10, 10, 20, 40}, []int64{stat.StepQuantile(v, 0), stat.StepQuantile(v, 0.25),
		stat.StepQuantile(v, 0.26), stat.StepQuantile(v, 1)})
	require.Equal(t, []int64{10, 20, 40}, []int64{stat.Permille(v, 0), stat.Permille(v, 250), stat.Permille(v, 1000)})
	low, high := stat.Middle(v, 0.5)
	require.Equal(t, []int64{20, 30}, []int64{low, high})
	require.True(t, math.IsNaN(stat.Quantile[int64](nil, 0.5)))
	require.Zero(t, stat.StepQuantile[int64](nil, 0.5))
	median, spread := stat.MedianSpread([]float64{5, 1, 4, 2, 3})
	require.Equal(t, []float64{3, 1, 3}, []float64{median, spread, stat.Median([]float64{3, 1, 7})})
}

// Quantiles rise with the share and lie between the minimum and the maximum. A step quantile is one of the values, and
// at least the share of values is not above it.
func TestQuantilesRise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(t, 1)
		slices.Sort(v)
		a, b := rapid.Float64Range(0, 1).Draw(t, "a"), rapid.Float64Range(0, 1).Draw(t, "b")
		low, high := stat.Quantile(v, min(a, b)), stat.Quantile(v, max(a, b))
		const rounding = 1e-9
		require.True(t, v[0]-rounding <= low && low <= high+rounding && high <= v[len(v)-1]+rounding)
		step := stat.StepQuantile(v, a)
		below := 0
		for _, x := range v {
			if x <= step {
				below++
			}
		}
		require.Contains(t, v, step)
		require.GreaterOrEqual(t, float64(below), a*float64(len(v))-rounding)
	})
}

// Intervals cover the true mean as often as stated. Student's does so even for few values; the bootstrap's is then too
// narrow.
func TestIntervalsHoldTheTruth(t *testing.T) {
	const trials, truth = 400, 3.0
	held := func(n int, interval func([]float64) stat.Interval) float64 {
		random, count := rand.New(rand.NewPCG(4, 8)), 0.0
		for range trials {
			v := make([]float64, n)
			for k := range v {
				v[k] = truth + random.NormFloat64()
			}
			i := interval(v)
			require.True(t, i.Low <= i.Mean && i.Mean <= i.High)
			if i.Low <= truth && truth <= i.High {
				count++
			}
		}
		return count / trials
	}
	bootstrap := func(v []float64) stat.Interval { return stat.MeanInterval(v, 1) }
	const threeErrors = 0.033 // for a share of 0.95 in 400 trials
	require.InDelta(t, 0.95, held(3, stat.TInterval), threeErrors)
	require.InDelta(t, 0.95, held(20, stat.TInterval), threeErrors)
	require.Less(t, held(3, bootstrap), 0.85)
	require.InDelta(t, 0.93, held(20, bootstrap), threeErrors)
}

func TestBootstrapIsRepeatable(t *testing.T) {
	v := []float64{1, 5.5, 2.25, 8, 13, 21.75, 34, 4}
	require.Equal(t, stat.MeanInterval(v, 1), stat.MeanInterval(v, 1))
	require.NotEqual(t, stat.MeanInterval(v, 1), stat.MeanInterval(v, 2))
	require.Equal(t, stat.Interval{2, 2, 2}, stat.MeanInterval([]float64{2}, 1))
	require.Equal(t, stat.Interval{}, stat.MeanInterval(nil, 1))
	require.Equal(t, stat.Interval{3, 3, 3}, stat.GroupInterval(3, [][]float64{{2, 4}, {3}, {1, 5}}, 1))
}

// A sample has the size of the data, every position occurs, and a block has consecutive positions, cyclically.
func TestBootstrapSamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, block := rapid.IntRange(1, 20).Draw(t, "n"), rapid.IntRange(0, 7).Draw(t, "block")
		b := stat.Bootstrap{Draws: 300, Block: block, Random: rand.New(rand.NewPCG(1, 2))}
		seen, samples := map[int]bool{}, 0
		b.Each(n, func(sample []int) {
			samples++
			require.Len(t, sample, n)
			for k, at := range sample {
				seen[at] = true
				if k%max(1, block) > 0 {
					require.Equal(t, (sample[k-1]+1)%n, at)
				}
			}
		})
		require.Equal(t, 300, samples)
		require.Len(t, seen, n)
	})
	b := stat.Bootstrap{Random: rand.New(rand.NewPCG(1, 2))}
	sorted := b.Statistics(3, func(sample []int) float64 { return math.Sqrt(float64(sample[0] - 1)) })
	require.True(t, slices.IsSorted(sorted))
	require.Less(t, len(sorted), 2000, "what is no number is left out")
}

// The expected quantiles at 0.975 and 0.995 are published (Fisher and Yates, Statistical Tables).
func TestStudentQuantiles(t *testing.T) {
	for freedom, want := range map[float64][2]float64{1: {12.7062, 63.6567}, 2: {4.3027, 9.9248}, 5: {2.5706, 4.0321},
		30: {2.0423, 2.7500}, 120: {1.9799, 2.6174}, 1e6: {1.9600, 2.5758}} {
		require.InDelta(t, want[0], stat.StudentQuantile(0.975, freedom), 5e-5, freedom)
		require.InDelta(t, want[1], stat.StudentQuantile(0.995, freedom), 5e-5, freedom)
	}
	require.True(t, math.IsNaN(stat.StudentQuantile(0.975, 0)) && math.IsNaN(stat.StudentQuantile(1, 3)))
	require.True(t, math.IsNaN(stat.TInterval([]float64{1}).Low))
}

func TestStudentQuantileInvertsTheDistribution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		share, freedom := rapid.Float64Range(0.001, 0.999).Draw(t, "share"),
			rapid.Float64Range(0.5, 1e4).Draw(t, "freedom")
		x := stat.StudentQuantile(share, freedom)
		require.InDelta(t, share, stat.StudentCDF(x, freedom), 1e-10)
		require.InDelta(t, 1, stat.StudentCDF(x, freedom)+stat.StudentCDF(-x, freedom), 1e-12)
	})
}

// Student's distribution with one degree of freedom is Cauchy's, which has a closed form.
func TestStudentOfOneDegreeIsCauchys(t *testing.T) {
	for _, x := range []float64{-50, -1, -0.1, 0, 0.3, 2, 1000} {
		require.InDelta(t, 0.5+math.Atan(x)/math.Pi, stat.StudentCDF(x, 1), 1e-13)
	}
}

// A least squares solution leaves a residual that is orthogonal to all columns.
func TestLeastSquaresIsOrthogonal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, columns := rapid.IntRange(1, 12).Draw(t, "rows"), rapid.IntRange(1, 6).Draw(t, "columns")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		a, b := make([][]float64, rows), make([]float64, rows)
		for i := range a {
			a[i], b[i] = make([]float64, columns), random.NormFloat64()
			for k := range a[i] {
				a[i][k] = random.NormFloat64()
			}
		}
		x := stat.LeastSquares(a, b)
		for k := range columns {
			slope := 0.0
			for i := range a {
				left := b[i]
				for j := range columns {
					left -= a[i][j] * x[j]
				}
				slope += a[i][k] * left
			}
			require.InDelta(t, 0, slope, 1e-6*(1+math.Abs(slices.Max(x))))
		}
	})
	require.InDeltaSlice(t, []float64{-1, 2},
		stat.LeastSquares([][]float64{{1, 0}, {1, 1}, {1, 2}}, []float64{-1, 1, 3}), 1e-12)
}

// A small ridge fits a line exactly, and a large ridge returns the mean.
func TestRidge(t *testing.T) {
	rows, line := [][]float64{{0, 0}, {1, 1}, {2, 2}, {3, 3}}, []float64{1, 3, 5, 7}
	require.InDeltaSlice(t, line, stat.Ridge(rows, line, 1e-9), 1e-6)
	require.InDeltaSlice(t, []float64{4, 4, 4, 4}, stat.Ridge(rows, line, 1e12), 1e-6)
}

func TestSamplesNeeded(t *testing.T) {
	for level, want := range map[float64]int{1: 2, 0.34: 2, 0.05: 4, 0.0286: 4, 0.0285: 5, 0.01: 5} {
		require.Equal(t, want, stat.SamplesNeeded(level), level)
	}
	n := stat.SamplesNeeded(0.05)
	low, high := []float64{}, []float64{}
	for k := range n {
		low, high = append(low, float64(k)), append(high, float64(100+k))
	}
	require.LessOrEqual(t, stat.Permutation(low, high, 1), 0.05)
	require.Greater(t, stat.Permutation(low[1:], high[1:], 1), 0.05)
}
