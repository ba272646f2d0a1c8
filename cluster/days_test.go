package cluster

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
	"graft/internal/stat"
)

// Completion times differ by day and by seed. The interval contains the true mean in about 95% of 200 studies. Equal
// values give an interval without width.
func TestIntervalsOverDaysAndSeeds(t *testing.T) {
	const days, seeds, perDay, studies = 15, 10, 4, 200
	var jobs []trace.Job
	for k := range days * perDay {
		jobs = append(jobs, trace.Job{Submit: int64(k/perDay) * 86_400})
	}
	r, hits := rand.New(rand.NewPCG(1, 2)), 0
	for range studies {
		ofDay := make([]float64, days)
		for k := range ofDay {
			ofDay[k] = r.NormFloat64()
		}
		values := make([][]float64, seeds)
		for s := range values {
			ofSeed := r.NormFloat64()
			for k := range jobs {
				values[s] = append(values[s], 5+ofDay[k/perDay]+ofSeed+r.NormFloat64())
			}
		}
		values[0][7] = math.NaN() // an excluded job
		i := OverDaysAndSeeds(jobs, values)
		require.Equal(t, days, i.Windows)
		if i.Low <= 5 && 5 <= i.High {
			hits++
		}
	}
	require.InDelta(t, 0.95*studies, hits, 0.06*studies)

	same := [][]float64{make([]float64, len(jobs)), make([]float64, len(jobs))}
	require.Equal(t, Interval{Windows: days}, OverDaysAndSeeds(jobs, same))
	require.True(t, math.IsNaN(OverDaysAndSeeds(jobs, same[:1]).Low), "one seed")
	require.True(t, math.IsNaN(OverDaysAndSeeds(jobs[:perDay], same).Low), "one day")
}

// The bootstrap draws one seed fewer than there are. One seed of four differs. Three draws contain it at least twice in
// 1 of 6 cases and three times in 1 of 64. Four draws would contain it three times in 1 of 20.
func TestIntervalsOverFewSeeds(t *testing.T) {
	jobs := []trace.Job{{}, {Submit: 86_400}}
	i := OverDaysAndSeeds(jobs, [][]float64{{0, 0}, {0, 0}, {0, 0}, {1, 1}})
	require.InDelta(t, 0, i.Low, 1e-9)
	require.InDelta(t, 2./3, i.High, 1e-9)
}

// If successive days depend on each other, as with long queues, blocks span several days, and the interval contains the
// true mean in most studies. Blocks of one day contain it in fewer than 60%. Independent days keep blocks of one day in
// most studies.
func TestIntervalsOverDependentDays(t *testing.T) {
	const days, studies = 256, 200
	var jobs []trace.Job
	for k := range days {
		jobs = append(jobs, trace.Job{Submit: int64(k) * 86_400})
	}
	for _, c := range []struct{ memory, hits, hitsOfDays, ofOneDay float64 }{{0.85, 0.8, 0.6, 0}, {0, 0.9, 1, 0.9}} {
		r, hits, hitsOfDays, ofOneDay := rand.New(rand.NewPCG(3, 4)), 0., 0., 0.
		for range studies {
			values, level := make([]float64, days), r.NormFloat64()
			for k := range values {
				level = c.memory*level + math.Sqrt(1-c.memory*c.memory)*r.NormFloat64()
				values[k] = 5 + level
			}
			i := OverDays(jobs, values)
			if i.Low <= 5 && 5 <= i.High {
				hits += 1. / studies
			}
			if i.Windows == days {
				ofOneDay += 1. / studies
			}
			if half := 1.96 * stat.Deviation(values) / math.Sqrt(days); math.Abs(stat.Mean(values)-5) <= half {
				hitsOfDays += 1. / studies
			}
		}
		require.GreaterOrEqual(t, hits, c.hits, "memory %v", c.memory)
		require.LessOrEqual(t, hitsOfDays, c.hitsOfDays, "memory %v", c.memory)
		require.GreaterOrEqual(t, ofOneDay, c.ofOneDay, "memory %v", c.memory)
		t.Logf("measured: memory %v: %.0f%% of the intervals contain the mean, and %.0f%% with blocks of a day",
			c.memory, 100*hits, 100*hitsOfDays)
	}
}
