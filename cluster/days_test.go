package cluster

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
)

// Completion times differ by day and by seed; the interval contains the true mean in most of 200 studies. With equal
// values, it is the value.
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
		values[0][7] = math.NaN() // a job that was left out
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
