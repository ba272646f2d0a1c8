package cluster

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
)

// done returns a job that has ended.
func done(user string, submit, duration, completion int64) *Job {
	return &Job{Trace: &trace.Job{User: user, Submit: submit, Duration: duration}, End: submit + completion,
		Queue: completion - duration}
}

func TestSummaries(t *testing.T) {
	jobs := []*Job{done("a", 0, 100, 100), done("a", 50, 100, 300), done("b", 60, 5, 5), done("b", 70, 2, 30)}
	s := new(Summarizer).Summarize(jobs)
	require.Equal(t, 4, s.Jobs)
	require.Equal(t, int64(435), s.Completion.Sum)
	require.InDelta(t, 65, s.Completion.Median, 1e-12) // between 30 and 100
	require.InDelta(t, 300-0.003*200, s.Completion.P999, 1e-9)
	require.Equal(t, int64(350), s.Last)
	require.InDelta(t, (1+3+1+3)/4., s.Slowdown, 1e-12) // durations count as at least 10 s
	require.InDelta(t, 1, s.Fairness, 1e-12)            // each user's mean is 2
	one := new(Summarizer).Summarize(nil)
	require.True(t, math.IsNaN(one.Completion.Mean) && math.IsNaN(one.Fairness) && math.IsNaN(one.Queue.Max))
	uneven := new(Summarizer).Summarize([]*Job{done("a", 0, 10, 10), done("b", 0, 10, 90)})
	require.InDelta(t, 100./(2*82), uneven.Fairness, 1e-12)
}

func TestComparisons(t *testing.T) {
	var jobs []trace.Job
	var a, b []float64
	for k := range int64(400) {
		jobs = append(jobs, trace.Job{Submit: k * 3600})
		a, b = append(a, float64(1000+k%24)), append(b, float64(993+k%24))
	}
	b[7], a[9] = math.NaN(), math.NaN()
	same := Compare(jobs, a, b)
	require.Equal(t, Difference{Mean: 7, Low: 7, High: 7, Windows: 17}, same)
	mean := OverDays(jobs, a)
	require.True(t, mean.Low <= mean.Mean && mean.Mean <= mean.High && mean.Low < mean.High)
	require.Equal(t, mean, OverDays(jobs, a), "the same draws each time")
	short := Compare(jobs[:20], a[:20], b[:20])
	require.Equal(t, 7.0, short.Mean)
	require.True(t, math.IsNaN(short.Low) && short.Windows == 1, "of one day nothing can be said of days")
	none := Compare(jobs[:1], []float64{math.NaN()}, []float64{5})
	require.True(t, math.IsNaN(none.Mean) && none.Windows == 0)
}

// The interval of a mean contains the truth about as often as it claims. Days differ more than jobs of a day.
func TestIntervalsOverDays(t *testing.T) {
	const truth, trials, days = 0.0, 200, 40
	held := 0
	for trial := range trials {
		var jobs []trace.Job
		var times []int64
		for day := range days {
			shift := math.Sin(float64(trial*days+day)*12.9898) * 43758.5453
			shift = (shift - math.Floor(shift) - 0.5) * 10_000
			for k := range 5 {
				jobs = append(jobs, trace.Job{Submit: int64(day)*windowLength + int64(k)})
				times = append(times, int64(shift)+int64(k-2))
			}
		}
		i := overWindows(jobs, func(k int) (float64, bool) { return float64(times[k]), true })
		if i.Low <= truth && truth <= i.High {
			held++
		}
	}
	require.InDelta(t, 0.95, float64(held)/trials, 0.05)
}
