package runs

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/results"
)

// Each kind of run, and each world of clusters, has a trend for the list of runs.
func TestKindsHaveTrends(t *testing.T) {
	for _, k := range Kinds() {
		require.NotNil(t, k.list.trend, k.Name)
	}
}

// A thinned trend is short and finite, and keeps its first and last value.
func TestTrendsAreThinned(t *testing.T) {
	long := Trend{Metric: "loss", Values: []float64{math.NaN(), 7}}
	for k := range 1000 {
		long.Values = append(long.Values, float64(k), math.Inf(1))
	}
	short := long.thinned()
	require.Len(t, short.Values, maxTrend)
	require.Equal(t, []float64{7, 999}, []float64{short.Values[0], short.Values[maxTrend-1]})
	require.IsIncreasing(t, short.Values[1:])
	require.Len(t, long.Values, 2002, "the argument is unchanged")
	require.Empty(t, Trend{}.thinned().Values)
	require.Equal(t, []float64{1, 3, 3}, bestSoFar([]float64{1, 3, 2}).Values)
}

// A completed run shows full progress, whatever progress it recorded last.
func TestCompletedProgress(t *testing.T) {
	for name, was := range map[string]*results.Progress{"none": nil, "no total": {Done: 3},
		"half": {Done: 2, Of: 4, Unit: "cells", Failed: "no"}} {
		p := completed(was)
		share, known := p.Share()
		require.True(t, known, name)
		require.Equal(t, 1.0, share, name)
		require.Empty(t, p.Failed, name)
	}
	for text, want := range map[string]float64{`"60s"`: 60, "'2m'": 120, "15": 15, `"1e3"`: 1000, "x": 0, "-3": 0} {
		require.Equal(t, want, secondsOf(text), text)
	}
}
