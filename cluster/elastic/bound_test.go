package elastic_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
)

// A cluster with room for one bundle is the single machine of the relaxation. Running the job with the least remaining
// work reaches the bound.
func TestBoundIsTightOnOneMachine(t *testing.T) {
	s := studyOf(job(1, 0), job(2, 1), job(3, 1))
	for k, slots := range []float64{4, 1, 2} {
		s.Jobs[k].RealEpochs = 120 * slots
	}
	s.Types = []elastic.JobType{model}
	s.Types[0].Worker, s.Types[0].Server = elastic.Resources{1, 1}, elastic.Resources{0, 0}
	s.Options = elastic.Options{Nodes: 1, PerNode: elastic.Resources{1, 1}, Most: 1}
	result := run(t, s, func(w *elastic.World) {
		var least *elastic.Job
		for _, j := range w.Jobs() {
			if least == nil || j.RealEpochs-j.Progress < least.RealEpochs-least.Progress {
				least = j
			}
		}
		w.AddPair(least)
	})
	bound, err := elastic.LowerBound(s)
	require.NoError(t, err)
	require.InDelta(t, (7+1+3)/3.0, result.MeanJCT, tolerance)
	require.InDelta(t, result.MeanJCT, bound.Mean, tolerance)
	require.InDelta(t, result.MeanJCT, bound.SRPT, tolerance)
	require.InDelta(t, 7.0/3, bound.Alone, tolerance)
	// Mean busy slots: job 2 at 1.5, job 3 at 3, job 1 a quarter at 0.5 and the rest at 5.5.
	require.InDelta(t, (0.5+2+4.25)/3+7.0/6, bound.MeanBusy, tolerance)
}

// With room for all jobs, the bound equals the time of each job alone.
func TestBoundIsTightWithRoom(t *testing.T) {
	s := studyOf(job(1, 0), job(2, 0))
	bound, err := elastic.LowerBound(s)
	require.NoError(t, err)
	require.InDelta(t, run(t, s, onePair).MeanJCT, bound.Mean, tolerance)
}

func TestBoundOfEndlessJobs(t *testing.T) {
	s := studyOf(job(1, 0))
	s.Speed = flat(0)
	_, err := elastic.LowerBound(s)
	require.EqualError(t, err, "compute a lower bound on completion times: job 1 of type m never ends: "+
		"its speed is zero for every number of tasks; correct the speed model")
}

// No random schedule beats the bound on clusters so small that jobs wait.
func TestBoundHoldsForRandomSchedules(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 9))
		s := studyOf()
		s.Options = elastic.Options{Nodes: 1 + r.IntN(2), Most: 4, Scaling: elastic.NoScaling}
		for id := range 1 + r.IntN(5) {
			j := job(id, r.IntN(3))
			j.RealEpochs = 300 * r.Float64()
			s.Jobs = append(s.Jobs, j)
		}
		result := run(t, s, func(w *elastic.World) {
			for range 6 {
				if jobs := w.Jobs(); len(jobs) > 0 {
					w.AddPair(jobs[r.IntN(len(jobs))])
				}
			}
		})
		bound, err := elastic.LowerBound(s)
		require.NoError(t, err)
		require.GreaterOrEqual(t, result.MeanJCT, bound.Mean*(1-1e-9))
	}
}
