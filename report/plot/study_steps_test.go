package plot

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Means over steps preserve the integral of a curve.
func TestMeansKeepTheIntegral(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var times, values []float64
	want, at := 0.0, 0.0
	for range 1000 {
		times, values = append(times, at), append(values, random.Float64())
		step := random.ExpFloat64()
		want, at = want+step*values[len(values)-1], at+step
	}
	times, values = append(times, at), append(values, 0)
	width, sum := stepWidth(times), 0.0
	steps, means := stepMeans(times, values, width)
	for _, v := range means {
		sum += v * width
	}
	require.InDelta(t, want, sum, 1e-6)
	require.Len(t, steps, curveSteps)
}

func TestStepsOfACurve(t *testing.T) {
	times, values := []float64{0, 1, 2, 3, 4, 5, 6}, []float64{40, 50, 75, 65, 25, 25, 0}
	at, means := stepMeans(times, values, 3)
	require.Equal(t, []float64{0, 3}, at)
	require.InDeltaSlice(t, []float64{55, 115. / 3}, means, 1e-9)
	require.Zero(t, stepWidth(times))
	at, means = stepMeans(times, values, 0)
	require.Equal(t, times, at)
	require.Equal(t, values, means, "a curve of few changes stays")
	_, means = stepMeans(nil, nil, 1)
	require.Empty(t, means)
}
