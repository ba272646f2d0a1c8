package stat

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The interval of four values uses Student's t-distribution with three degrees of freedom.
func TestIntervalsOverSeeds(t *testing.T) {
	s := NewOverSeeds([]float64{42, 43, 44, 45}, 0.05, Unbounded)
	require.Equal(t, 43.5, s.Mean)
	require.InDelta(t, 43.5-3.182446305*1.290994449/2, *s.Low, 1e-8) // quantile, deviation, square root of n
	require.InDelta(t, 43.5+3.182446305*1.290994449/2, *s.High, 1e-8)
	two := NewOverSeeds([]float64{1, 2}, 0.05, Unbounded)
	require.Nil(t, two.Low)
	require.Nil(t, two.Interval())
	require.Equal(t, 1.5, two.Mean)
	same := NewOverSeeds([]float64{0.1, 0.1, 0.1}, 0.05, Shares)
	require.Equal(t, *same.Low, *same.High)
}

func TestIntervalsAreCutToTheRange(t *testing.T) {
	require.Equal(t, 1.0, *NewOverSeeds([]float64{0.9, 0.99, 1}, 0.05, Shares).High, "the whole interval ends at 1.1")
	require.Equal(t, 0.0, *NewOverSeeds([]float64{0, 0.01, 0.1}, 0.05, Shares).Low)
	require.Negative(t, *NewOverSeeds([]float64{0, 0.01, 0.1}, 0.05, Unbounded).Low)
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 { // the cut interval covers the mean if and only if the whole one does
		values, mean := make([]float64, 4), 0.05
		for k := range values {
			if r.Float64() < mean {
				values[k] = 1
			}
		}
		whole, cut := NewOverSeeds(values, 0.05, Unbounded), NewOverSeeds(values, 0.05, Shares)
		require.Equal(t, *whole.Low <= mean && mean <= *whole.High, *cut.Low <= mean && mean <= *cut.High)
	}
}
