package estimate_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/estimate"
	"graft/cluster/trace"
)

const (
	day = 24 * 60 * 60 // seconds

	// Scores of the published estimates for September. Their models also learned from the five months before and from
	// job IDs.
	publishedMAE = 11_994
	publishedR2  = 0.454
)

// zero is the date of second 0 in the test traces.
var zero = time.Date(2020, 4, 1, 0, 0, 0, 0, time.UTC)

// someJobs draws jobs whose durations depend on user, devices, utilisation and chance.
func someJobs(seed uint64, n int) []trace.Job {
	random := rand.New(rand.NewPCG(seed, 1))
	jobs := make([]trace.Job, n)
	for k := range jobs {
		user, gpus, util := random.IntN(12), 1<<random.IntN(4), 100*random.Float64()
		seconds := float64(100*(user+1)) * (1 + util/25) * math.Exp(0.3*random.NormFloat64())
		jobs[k] = trace.Job{ID: fmt.Sprint(k), User: fmt.Sprintf("user%d", user), VC: fmt.Sprintf("vc%d", user%3),
			Name: fmt.Sprintf("train%d", user%5), Submit: int64(k) * 600, Duration: int64(seconds), GPUs: gpus,
			CPUs: 4 * gpus, State: trace.Completed, Training: &trace.Training{GPUUtil: util}}
	}
	return jobs
}

func TestDurationsAreLearned(t *testing.T) {
	jobs := someJobs(1, 4000)
	for _, past := range []bool{false, true} {
		told := 0
		d := must(estimate.EstimateDurations(t.Context(), jobs, estimate.DurationOptions{Zero: zero,
			Past: past, Tell: func(w estimate.DurationWindow) { told += w.Scores.Rows },
			Model: estimate.Options{Bags: 2, Pairs: 4}}))
		require.Len(t, d.Estimates, len(jobs))
		require.Greater(t, d.Scores.R2.Value, 0.7)
		learned := 0
		for _, e := range d.Estimates {
			require.Positive(t, e.Seconds)
			if e.Learned {
				learned++
			}
		}
		require.Equal(t, d.Scores.Rows, learned)
		require.Equal(t, learned, told)
		require.Equal(t, learned, d.Usual.Rows)
		require.Less(t, d.Usual.R2.Value, d.Scores.R2.Value, "means know nothing of what a profile shows")
		require.Equal(t, 4000-7*day/600, learned, "all but the first week's")
		require.NotNil(t, d.Model)
		require.NotContains(t, d.Model.Features(), "month", "one month is nothing to learn from")
	}
}

// hindsight returns jobs with another future. It replaces jobs submitted from a second on, and changes the durations of
// jobs that end from it on.
func hindsight(jobs []trace.Job, from int64) []trace.Job {
	random := rand.New(rand.NewPCG(7, 7))
	changed := append([]trace.Job(nil), jobs...)
	for k := range changed {
		j := &changed[k]
		switch {
		case j.Submit >= from:
			other := jobs[random.IntN(len(jobs))]
			other.ID, other.Submit = j.ID, j.Submit
			*j = other
		case j.Submit+j.Duration >= from:
			j.Duration = from - j.Submit + int64(random.IntN(1e6))
		}
	}
	return changed
}

// Changes in the future do not change earlier estimates.
func TestEstimatesKnowNoFuture(t *testing.T) {
	jobs := someJobs(2, 2500)
	const from = 9 * day
	o := estimate.DurationOptions{Zero: zero, Past: true, First: 4 * day, Every: 3 * day,
		Model: estimate.Options{Bags: 2, Rounds: 60}}
	before := must(estimate.EstimateDurations(t.Context(), jobs, o))
	after := must(estimate.EstimateDurations(t.Context(), hindsight(jobs, from), o))
	different := 0
	for k, e := range before.Estimates {
		if jobs[k].Submit <= from {
			if jobs[k].Submit < from {
				require.Equal(t, e, after.Estimates[k])
			}
		} else if e != after.Estimates[k] {
			different++
		}
	}
	require.Greater(t, different, 500, "what comes later is another thing")

	tables := [2]*estimate.Table{}
	for k, of := range [][]trace.Job{jobs, hindsight(jobs, from)} {
		tables[k] = must(estimate.DurationTable(of, o))
	}
	for row := range jobs {
		if jobs[row].Submit < from {
			require.True(t, equalRows(tables[0].Row(row), tables[1].Row(row)), "job %d", row)
		}
	}
}

// Neither a job's ID nor its end state is a feature, so changing both does not change the model.
func TestNumbersAndEndsAreNoFeatures(t *testing.T) {
	jobs := someJobs(3, 1500)
	renamed := append([]trace.Job(nil), jobs...)
	for k := range renamed {
		renamed[k].ID, renamed[k].State = "x", trace.Failed
	}
	o := estimate.DurationOptions{Zero: zero, Past: true, Model: estimate.Options{Bags: 1, Rounds: 30}}
	var models []string
	for _, list := range [][]trace.Job{jobs, renamed} {
		table := must(estimate.DurationTable(list, o))
		models = append(models, written(t, fit(t, table.Without(table.Idle()...), o.Model)))
	}
	require.Equal(t, models[0], models[1])
}

// A trace whose jobs all have different names is readable. Names beyond the limit of a column are missing.
func TestMoreNamesThanAColumnHolds(t *testing.T) {
	jobs := make([]trace.Job, 1<<16+10)
	for k := range jobs {
		jobs[k] = trace.Job{ID: "x", Name: fmt.Sprint("n", k), Submit: int64(len(jobs) - k), Duration: 1}
	}
	table := must(estimate.DurationTable(jobs, estimate.DurationOptions{Zero: zero}))
	name := slices.Index(table.Names(), "name")
	require.Equal(t, "", table.Row(0)[name].Text, "it came last")
	require.Equal(t, "", table.Row(10)[name].Text)
	require.Equal(t, "n11", table.Row(11)[name].Text)
	require.Equal(t, fmt.Sprint("n", len(jobs)-1), table.Row(len(jobs) - 1)[name].Text)
}

func TestDurationsRefuse(t *testing.T) {
	for want, c := range map[string]struct {
		jobs []trace.Job
		o    estimate.DurationOptions
	}{
		"zero is missing; set it to the date of second 0 of the trace": {someJobs(1, 3), estimate.DurationOptions{}},
		"every is -1": {someJobs(1, 3), estimate.DurationOptions{Zero: zero, Every: -1}},
		"leaves is 1": {someJobs(1, 3),
			estimate.DurationOptions{Zero: zero, Model: estimate.Options{Leaves: 1}}},
		"the trace has no jobs": {nil, estimate.DurationOptions{Zero: zero}},
		"the submission at second 0 or the duration of -5 seconds is out of range": {[]trace.Job{{ID: "7",
			Duration: -5}},
			estimate.DurationOptions{Zero: zero}},
		"column gpu_util": {[]trace.Job{{Training: &trace.Training{GPUUtil: math.Inf(1)}}},
			estimate.DurationOptions{Zero: zero}},
		"check the unit": {[]trace.Job{{Submit: 1}, {Submit: 1 << 32}},
			estimate.DurationOptions{Zero: zero, Every: 1}},
		"column user, row 0: ": {[]trace.Job{{User: "\xff"}}, estimate.DurationOptions{Zero: zero}},
	} {
		_, err := estimate.EstimateDurations(t.Context(), c.jobs, c.o)
		require.ErrorContains(t, err, want)
	}
	one := must(estimate.EstimateDurations(t.Context(), []trace.Job{{ID: "1", Duration: 5}},
		estimate.DurationOptions{Zero: zero}))
	require.Equal(t, []estimate.DurationEstimate{{ID: "1", Seconds: 3600, Blind: true}}, one.Estimates)
	require.Nil(t, one.Model)
}

func TestEstimatesAsATable(t *testing.T) {
	var file bytes.Buffer
	require.NoError(t, estimate.WriteEstimates(&file,
		[]estimate.DurationEstimate{{ID: "765469", Seconds: 1199.6}, {ID: "b,c", Seconds: 3e6}}))
	require.Equal(t, "job_id,priority\n765469,1200\n\"b,c\",3000000\n", file.String())
}

// publishedJobsOfSeptember reads the published trace of September.
func publishedJobsOfSeptember(t *testing.T) []trace.Job {
	rows := must(csv.NewReader(published(t, "venus_sept_trace.csv")).ReadAll())
	var jobs []trace.Job
	for _, row := range rows[1:] {
		number := func(column int) float64 {
			return must(strconv.ParseFloat(row[column], 64))
		}
		jobs = append(jobs, trace.Job{ID: row[0], User: row[1], VC: row[2], Name: row[3], GPUs: int(number(4)),
			CPUs: int(number(5)), Submit: int64(number(7)), Duration: int64(number(8)),
			Training: &trace.Training{Dataset: row[9], Model: row[10], Batch: int(number(11)), AMP: row[12] == "1",
				GPUUtil: number(14), MemoryUtil: number(15), Memory: number(16)}})
	}
	return jobs
}

// publishedEstimates returns the published estimates in seconds by job ID.
func publishedEstimates(t *testing.T) map[string]float64 {
	rows := must(csv.NewReader(published(t, "Venus_Sept_ebm_weekly_updated.csv")).ReadAll())
	estimates := map[string]float64{}
	for _, row := range rows[1:] {
		estimates[row[0]] = must(strconv.ParseFloat(row[1], 64))
	}
	return estimates
}

// Each week of a month is estimated from the weeks before. The published estimates also learned from five earlier
// months, so the figures are not directly comparable.
func TestDurationsOfSeptember(t *testing.T) {
	if os.Getenv("GRAFT_LONG") == "" {
		t.Skip("left out: learning durations from five months of a trace; set GRAFT_LONG=1")
	}
	jobs, theirs := publishedJobsOfSeptember(t), publishedEstimates(t)
	began := int64(zero.AddDate(0, 5, 0).Sub(zero) / time.Second)
	var estimated int
	for name, o := range map[string]estimate.DurationOptions{
		"without the past": {},
		"with the past":    {Past: true},
	} {
		o.Zero, o.First = zero, began+7*day
		d := must(estimate.EstimateDurations(t.Context(), jobs, o))
		estimated = 0
		for _, w := range d.Windows {
			t.Logf("measured: %s, week from day %d: learned from %d jobs, %d estimated, MAE %v s, R² %v", name,
				(w.From-began)/day+1, len(w.Train), w.Scores.Rows, w.Scores.MAE, w.Scores.R2)
			estimated += w.Scores.Rows
		}
		t.Logf("measured: %s: %d jobs, MAE %v s, R² %v (published, from five months more: %d s, %v)", name,
			d.Scores.Rows, d.Scores.MAE, d.Scores.R2, publishedMAE, publishedR2)
		require.Equal(t, d.Scores.Rows, estimated)
		var truth, expected []float64
		for k, e := range d.Estimates {
			if e.Learned {
				truth, expected = append(truth, float64(jobs[k].Duration)), append(expected, theirs[e.ID])
			}
		}
		same := score(t, truth, expected)
		t.Logf("measured: the published estimates of the same jobs: MAE %.0f s, R² %.4f", same.MAE.Value, same.R2.Value)
		require.Greater(t, d.Scores.R2.Value, same.R2.Value)
		require.Less(t, d.Scores.MAE.Value, same.MAE.Value)
	}
}
