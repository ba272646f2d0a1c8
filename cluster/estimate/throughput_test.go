package estimate_test

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/estimate"
)

const (
	// reference is the folder of published traces and forecasts, beside the repository.
	reference = "../../../shared/reference/lucid/"
	// publishedJobs is the mean error of the published forecasts of jobs.
	publishedJobs = 4.12
)

// ticks returns n steps of a daily wave.
func ticks(n int) []estimate.Tick {
	series := make([]estimate.Tick, n)
	for k := range series {
		wave := 10 + 8*math.Sin(2*math.Pi*float64(k)/144)
		series[k] = estimate.Tick{Time: time.Date(2020, 4, 1, 0, 10*k, 0, 0, time.UTC), Jobs: math.Round(wave),
			GPUs: math.Round(3 * wave)}
	}
	return series
}

// Forecasts use only ticks at least six steps back. The original also uses the fifth.
func TestForecastsReadNothingLater(t *testing.T) {
	for original, latest := range map[bool]int{false: 6, true: 5} {
		o := estimate.ThroughputOptions{Original: original}
		before := ticks(200)
		table := must(estimate.ThroughputTable(before, o))
		for _, row := range []int{160, 199} {
			for back := range 12 {
				after := ticks(200)
				after[row-back].Jobs, after[row-back].GPUs = 1000, 2000
				changed := must(estimate.ThroughputTable(after, o))
				same := equalRows(table.Row(row), changed.Row(row))
				require.Equal(t, back < latest, same, "original %v, a change %d steps back", original, back)
			}
		}
	}
}

// equalRows compares values and treats missing ones as equal.
func equalRows(a, b []estimate.Value) bool {
	for k := range a {
		if a[k] != b[k] && !(math.IsNaN(a[k].Number) && math.IsNaN(b[k].Number)) {
			return false
		}
	}
	return len(a) == len(b)
}

func TestWhatIsKnownOfATick(t *testing.T) {
	series := ticks(300)
	for k := range series {
		series[k].Jobs = float64(k * k % 31)
	}
	table := must(estimate.ThroughputTable(series, estimate.ThroughputOptions{}))
	row := map[string]float64{}
	for k, name := range table.Names() {
		row[name] = table.Row(288)[k].Number
	}
	jobs := func(back int) float64 { return series[288-back].Jobs }
	for name, want := range map[string]float64{
		"month": 4, "day": 3, "hour": 0, "minute": 0, "weekday": 4, "day_of_year": 94, "week": 14,
		"jobs_lag_6": jobs(6), "jobs_lag_18": jobs(18), "jobs_lag_144": jobs(144),
		"jobs_soft_7": jobs(7)/2 + (jobs(6)+jobs(8))/4, "jobs_soft_18": jobs(18)/2 + (jobs(17)+jobs(19))/4,
		"jobs_mean_6": (jobs(6) + jobs(7) + jobs(8) + jobs(9) + jobs(10) + jobs(11)) / 6,
	} {
		require.InDelta(t, want, row[name], 1e-5, name) // float32 precision for numbers below 400
	}
	require.Len(t, table.Names(), 7+2*9)
	first := table.Row(10)
	require.True(t, math.IsNaN(first[len(first)-1].Number), "what lies before the first tick is missing")
}

func TestAWaveIsForecast(t *testing.T) {
	series := ticks(8 * 144)
	forecast := must(estimate.ForecastThroughput(t.Context(), series, series[7*144].Time,
		estimate.ThroughputOptions{Model: estimate.Options{Bags: 2}}))
	require.Len(t, forecast.Forecasts, 144)
	require.Greater(t, forecast.JobScores.R2.Value, 0.95)
	require.Greater(t, forecast.GPUScores.R2.Value, 0.95)
	for k, f := range forecast.Forecasts {
		require.Equal(t, series[7*144+k], f.Tick)
		require.GreaterOrEqual(t, f.ExpectedJobs, 0.0)
	}
}

func TestTicksAreRefused(t *testing.T) {
	gap := ticks(5)
	gap[3].Time = gap[3].Time.Add(time.Second)
	odd := ticks(5)
	odd[1].Jobs = math.NaN()
	for want, series := range map[string][]estimate.Tick{"fill gaps": gap, "NaN jobs": odd, "the series has no " +
		"ticks": nil} {
		_, err := estimate.ThroughputTable(series, estimate.ThroughputOptions{})
		require.ErrorContains(t, err, want)
	}
	_, err := estimate.ForecastThroughput(t.Context(), ticks(5), ticks(5)[0].Time, estimate.ThroughputOptions{})
	require.ErrorContains(t, err, "expected at least 2 earlier ticks and 1 later tick")
	_, err = estimate.ThroughputTable(ticks(5), estimate.ThroughputOptions{Step: -1, Model: estimate.Options{Bins: -1}})
	require.ErrorContains(t, err, "step is")
	require.ErrorContains(t, err, "bins is")
	for text, want := range map[string]string{
		"":                                     "header",
		"time,submit_gpu_job\n":                "column submit_gpu_num is missing",
		tickHead + "2020,1,2\n":                "row 1",
		tickHead + "2020-04-01 00:00:00,x,2":   "row 1",
		tickHead + "2020-04-01 00:00:00,NaN,2": "expected finite numbers",
		tickHead + "2020-04-01 00:00:00,1\n":   "row 1",
	} {
		_, err := estimate.ReadTicks(strings.NewReader(text))
		require.ErrorContains(t, err, want, text)
	}
}

const tickHead = "time,submit_gpu_job,submit_gpu_num\n"

func TestForecastsAsATable(t *testing.T) {
	series := ticks(2)
	var file bytes.Buffer
	require.NoError(t, estimate.WriteForecasts(&file,
		[]estimate.Forecast{{Tick: series[0], ExpectedJobs: 9.87654, ExpectedGPUs: 30}, {Tick: series[1]}}))
	require.Equal(t, "time,submit_gpu_job,submit_gpu_num,pred_gpu_job,pred_gpu_num\n"+
		"2020-04-01 00:00:00,10,30,9.877,30.000\n2020-04-01 00:10:00,10,31,0.000,0.000\n", file.String())
	back := must(estimate.ReadTicks(&file))
	require.Equal(t, series, back)
}

func FuzzReadTicks(f *testing.F) {
	f.Add(tickHead + "2020-04-01 00:00:00,1,2\n2020-04-01 00:10:00,1.5,\"2\"\n")
	f.Add("a,submit_gpu_num,time,submit_gpu_job\n1,2,2020-04-01 00:00:00,3\n")
	f.Fuzz(func(t *testing.T, text string) {
		series, err := estimate.ReadTicks(strings.NewReader(text))
		if err != nil {
			return
		}
		var file bytes.Buffer
		forecasts := make([]estimate.Forecast, len(series))
		for k := range series {
			forecasts[k].Tick = series[k]
		}
		require.NoError(t, estimate.WriteForecasts(&file, forecasts))
		again := must(estimate.ReadTicks(&file))
		require.Len(t, again, len(series))
		for k := range series { // written times have whole seconds
			require.Equal(t, series[k].Time.Truncate(time.Second), again[k].Time)
			require.Equal(t, series[k].Jobs, again[k].Jobs)
		}
	})
}

// published opens a reference file, or skips the test.
func published(t *testing.T, name string) *os.File {
	file, err := os.Open(reference + name)
	if err != nil {
		t.Skip("left out: the published traces are not beside the repository")
	}
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	return file
}

// A model of April to August forecasts September.
func TestSubmissionsOfSeptember(t *testing.T) {
	if os.Getenv("GRAFT_LONG") == "" {
		t.Skip("left out: learning submissions from five months of a trace; set GRAFT_LONG=1")
	}
	series := must(estimate.ReadTicks(published(t, "cluster_throughput.csv")))
	september := time.Date(2020, 9, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		o    estimate.ThroughputOptions
		most float64
	}{
		{"nothing later than six steps back", estimate.ThroughputOptions{}, 4.2},
		{"five steps back, as the original", estimate.ThroughputOptions{Original: true}, 4.2},
		{"medians", estimate.ThroughputOptions{Model: estimate.Options{Target: estimate.TargetMedian}}, publishedJobs},
	} {
		forecast := must(estimate.ForecastThroughput(t.Context(), series, september, c.o))
		t.Logf("measured: %s: MAE %v jobs (published %v), R² %v; %v GPUs, R² %v", c.name, forecast.JobScores.MAE,
			publishedJobs, forecast.JobScores.R2, forecast.GPUScores.MAE, forecast.GPUScores.R2)
		require.Len(t, forecast.Forecasts, 4032)
		require.LessOrEqual(t, forecast.JobScores.MAE.Value, c.most)
	}
}
