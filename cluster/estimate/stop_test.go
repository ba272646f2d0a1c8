package estimate_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/estimate"
	"graft/cluster/trace"
)

// Learning stops soon after its context ends and returns no partial model.
func TestLearningCanBeStopped(t *testing.T) {
	table := newKnown(1, 20_000).table
	o := estimate.Options{Rounds: 1 << 20, Patience: 1 << 20, Bags: 2}
	for _, validation := range []string{estimate.ValidateRandom, estimate.ValidateLast} {
		o.Validation = validation
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		m, err := estimate.Fit(ctx, table, o) // would take hours
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Nil(t, m)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := estimate.EstimateDurations(ctx, someJobs(1, 3000), estimate.DurationOptions{Zero: zero})
	require.ErrorIs(t, err, context.Canceled)
	_, err = estimate.WalkThroughput(ctx, ticks(9*144), estimate.ThroughputOptions{})
	require.ErrorIs(t, err, context.Canceled)
}

// TicksOf counts submissions by step, from midnight on.
func TestSubmissionsAreCounted(t *testing.T) {
	noon := time.Date(2020, 4, 1, 12, 0, 0, 0, time.UTC)
	series := must(estimate.TicksOf([]trace.Job{{Submit: -1, GPUs: 2}, {Submit: 600, GPUs: 4}, {Submit: 599, GPUs: 1},
		{Submit: 1, GPUs: 8}, {Submit: 5}, {Submit: 1200, GPUs: 1, Share: 250}}, noon, 0))
	require.Len(t, series, 75)
	require.Equal(t, noon.Add(-12*time.Hour), series[0].Time)
	require.Equal(t, []estimate.Tick{{noon.Add(-10 * time.Minute), 1, 2}, {noon, 2, 9},
		{noon.Add(10 * time.Minute), 1, 4}, {noon.Add(20 * time.Minute), 1, 0.25}}, series[71:])
	_, err := estimate.ThroughputTable(series, estimate.ThroughputOptions{})
	require.NoError(t, err)
	for want, jobs := range map[string][]trace.Job{
		"the trace has no jobs":                                                    nil,
		"remove jobs that were submitted much earlier or later":                    {{Submit: 0}, {Submit: 1 << 33}},
		"the submission at second 0 or the duration of -5 seconds is out of range": {{Duration: -5}},
	} {
		_, err := estimate.TicksOf(jobs, noon, 0)
		require.ErrorContains(t, err, want)
	}
	_, err = estimate.TicksOf([]trace.Job{{}}, noon, -1)
	require.ErrorContains(t, err, "step is")
}

// A walk forecasts every tick, with models from the second window on. Later ticks do not change earlier forecasts.
func TestAWalkForecastsAllTicks(t *testing.T) {
	series := ticks(6 * 144)
	o := estimate.ThroughputOptions{Every: 48 * time.Hour, Model: estimate.Options{Bags: 1, Rounds: 80}}
	walk := must(estimate.WalkThroughput(t.Context(), series, o))
	require.Equal(t, 2, walk.Models)
	require.Len(t, walk.Forecasts, len(series))
	require.Equal(t, 4*144, walk.JobScores.Rows)
	require.Greater(t, walk.JobScores.R2.Value, 0.9)
	for k, f := range walk.Forecasts {
		require.Equal(t, series[k], f.Tick)
		require.Equal(t, k >= 288, f.Learned)
	}
	require.Zero(t, walk.Forecasts[5].ExpectedJobs, "nothing is known yet")
	require.InDelta(t, series[0].Jobs, walk.Forecasts[6].ExpectedJobs, sumTolerance)
	require.InDelta(t, (series[10].Jobs+series[11].Jobs+series[12].Jobs+series[13].Jobs+series[14].Jobs+
		series[15].Jobs)/6, walk.Forecasts[21].ExpectedJobs, 20*sumTolerance)

	const from = 5 * 144
	other := ticks(len(series))
	for k := from; k < len(other); k++ {
		other[k].Jobs, other[k].GPUs = 3, 500
	}
	again := must(estimate.WalkThroughput(t.Context(), other, o))
	for k := range from + 6 {
		require.Equal(t, [2]float64{walk.Forecasts[k].ExpectedJobs, walk.Forecasts[k].ExpectedGPUs},
			[2]float64{again.Forecasts[k].ExpectedJobs, again.Forecasts[k].ExpectedGPUs}, k)
	}
	require.NotEqual(t, walk.Forecasts[from+20].ExpectedGPUs, again.Forecasts[from+20].ExpectedGPUs)

	late := must(estimate.ForecastThroughput(t.Context(), series, series[288].Time, o))
	require.Equal(t, walk.Forecasts[288:], late.Forecasts, "the same windows, and the same models")
	require.Equal(t, 2, late.Models)
	short := must(estimate.WalkThroughput(t.Context(), ticks(20), o))
	require.Nil(t, short.Jobs)
	_, err := estimate.WalkThroughput(t.Context(), series, estimate.ThroughputOptions{Every: time.Second})
	require.ErrorContains(t, err, "every is 1s")
}
