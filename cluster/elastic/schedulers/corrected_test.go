package schedulers_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/elastic"
	"graft/cluster/elastic/schedulers"
)

// tableOf returns a speed table that applies one rule to all models.
func tableOf(speed func(servers, workers int) float64, models ...string) elastic.Table {
	table := elastic.Table{}
	for _, name := range models {
		for p := 1; p <= 17; p++ {
			var row []float64
			for w := 1; w <= 17; w++ {
				row = append(row, speed(p, w))
			}
			table[name] = append(table[name], row)
		}
	}
	return table
}

func perWorker(_, workers int) float64 { return float64(workers) }

// small returns a study on few nodes with types "gpu", whose bundle needs half a node, and "cpu".
func small(nodes, most int, jobs ...elastic.Spec) elastic.Study {
	return elastic.Study{
		Types: []elastic.JobType{
			{Name: "gpu", Worker: elastic.Resources{2, 4}, Server: elastic.Resources{2, 0}, EpochSize: 1},
			{Name: "cpu", Worker: elastic.Resources{2, 0}, Server: elastic.Resources{2, 0}, EpochSize: 1},
		},
		Jobs: jobs, Speed: tableOf(perWorker, "gpu", "cpu"),
		Options: elastic.Options{Nodes: nodes, Most: most, Slot: 1},
	}
}

func spec(id, kind int, epochs float64) elastic.Spec {
	return elastic.Spec{ID: id, Type: kind, Epochs: epochs, RealEpochs: epochs}
}

// countsAfter returns workers and servers by job ID after a scheduler's decision in the last of some slots.
func countsAfter(t *testing.T, s elastic.Study, scheduler string, slots int, keep ...cluster.Quirk) map[int][2]int {
	for _, q := range keep {
		s.Options.Quirks = append(s.Options.Quirks, q.Name)
	}
	kind, err := schedulers.Named(scheduler)
	require.NoError(t, err)
	w, err := elastic.NewWorld(s)
	require.NoError(t, err)
	decide := kind.New(w)
	counts := map[int][2]int{}
	for slot := range slots {
		w.Begin()
		decide.Schedule(w)
		for _, j := range w.Jobs() {
			if slot == slots-1 {
				counts[j.ID] = [2]int{len(j.Workers), len(j.Servers)}
			}
		}
		w.End()
	}
	return counts
}

// Job 1 leaves CPU slots that only job 3 can use.
func TestFIFOGoesOnBehindABlockedJob(t *testing.T) {
	s := small(2, 3, spec(1, 1, 90), spec(2, 1, 90), spec(3, 2, 90))
	s.Types[0].Server = elastic.Resources{0, 0}
	require.Equal(t, map[int][2]int{1: {3, 3}, 2: {1, 1}, 3: {2, 2}}, countsAfter(t, s, "fifo", 1))
	s.Types[0].Worker = elastic.Resources{2, 8}
	require.Equal(t, map[int][2]int{1: {2, 2}, 2: {0, 0}, 3: {2, 2}}, countsAfter(t, s, "fifo", 1))
	require.Equal(t, map[int][2]int{1: {2, 2}, 2: {0, 0}, 3: {0, 0}}, countsAfter(t, s, "fifo", 1, elastic.FirstNode))
}

// Job 1 has done half of a long run. Job 2 has just arrived with a short run.
func TestSRTFOrdersByTime(t *testing.T) {
	s := small(1, 2, spec(1, 1, 20), elastic.Spec{ID: 2, Type: 1, Arrival: 5, Epochs: 3, RealEpochs: 3})
	require.Equal(t, map[int][2]int{1: {0, 0}, 2: {2, 2}}, countsAfter(t, s, "srtf", 6))
	require.Equal(t, map[int][2]int{1: {2, 2}, 2: {0, 0}}, countsAfter(t, s, "srtf", 6, elastic.RemainingFraction))
}

func TestDRFSharesEvenly(t *testing.T) {
	s := small(3, 16, spec(1, 1, 90), spec(2, 1, 90), spec(3, 1, 90))
	require.Equal(t, map[int][2]int{1: {2, 2}, 2: {2, 2}, 3: {2, 2}}, countsAfter(t, s, "drf", 1))
}

// For equal demands, Tetris prefers the short job. The original prefers the job with more remaining work.
func TestTetrisPrefersShortJobs(t *testing.T) {
	s := small(1, 2, spec(1, 1, 400), spec(2, 1, 40), elastic.Spec{ID: 3, Type: 1, Epochs: 400, RealEpochs: 400})
	require.Equal(t, map[int][2]int{1: {0, 0}, 2: {2, 2}, 3: {0, 0}}, countsAfter(t, s, "tetris", 1))
	require.Equal(t, map[int][2]int{1: {2, 2}, 2: {0, 0}, 3: {0, 0}},
		countsAfter(t, s, "tetris", 1, elastic.LongestFirst))
	require.Equal(t, map[int][2]int{1: {0, 0}, 2: {2, 2}, 3: {0, 0}},
		countsAfter(t, s, "tetris", 2, elastic.LongestFirst))
}

// A job with many GPUs does not block a CPU job from the rest of a node.
func TestTetrisFillsNodes(t *testing.T) {
	s := small(1, 16, spec(1, 1, 90), spec(2, 2, 90))
	s.Types[0].Worker = elastic.Resources{1, 8}
	s.Types[0].Server = elastic.Resources{1, 0}
	require.Equal(t, [2]int{1, 1}, countsAfter(t, s, "tetris", 1)[2])
}

// A worker and a server save the same time, but the server uses less of the cluster.
func TestOptimusPrefersCheapTasks(t *testing.T) {
	s := small(2, 16, spec(1, 1, 90))
	s.Speed = tableOf(func(servers, workers int) float64 { return 10 + float64(min(workers+servers, 4)) }, "gpu", "cpu")
	require.Equal(t, map[int][2]int{1: {1, 3}}, countsAfter(t, s, "optimus", 1))
}

// Optimus does not exceed the counts of peak speed, even with free nodes.
func TestOptimusStopsAtThePeak(t *testing.T) {
	s := small(20, 16, spec(1, 1, 90))
	s.Speed = tableOf(func(servers, workers int) float64 {
		return 10 - math.Abs(float64(workers-3)) - math.Abs(float64(servers-2))
	}, "gpu", "cpu")
	require.Equal(t, map[int][2]int{1: {3, 2}}, countsAfter(t, s, "optimus", 1))
}

// If the table has no usable speed, jobs grow until they progress.
func TestOptimusSurvivesBadSpeeds(t *testing.T) {
	for _, bad := range []float64{0, -1e-13, -5} {
		s := small(20, 4, spec(1, 1, 90), spec(2, 1, 9))
		s.Speed = tableOf(func(servers, workers int) float64 {
			if workers < 3 || servers < 2 {
				return bad
			}
			return float64(workers)
		}, "gpu", "cpu")
		kind, err := schedulers.Named("optimus")
		require.NoError(t, err)
		result, err := s.Run(t.Context(), kind)
		require.NoError(t, err)
		require.InDelta(t, 90.0/4, result.Makespan, 1e-6)
	}
}

// Jobs that outlived their estimates still get tasks that speed them up.
func TestOptimusAndOverruns(t *testing.T) {
	late := elastic.Spec{ID: 1, Type: 1, Epochs: 1, RealEpochs: 1000}
	s := small(20, 8, late)
	require.Equal(t, 8, countsAfter(t, s, "optimus", 5)[1][0])
	require.Equal(t, 1, countsAfter(t, s, "optimus", 5, elastic.NoCost)[1][0], "the original holds it at one")
}

// Peak gives each job the task counts of its peak speed, as far as they fit.
func TestPeak(t *testing.T) {
	s := small(3, 16, spec(1, 1, 900), spec(2, 1, 90))
	s.Speed = tableOf(func(servers, workers int) float64 {
		return 20 - math.Abs(float64(workers-2)) - math.Abs(float64(servers-5))
	}, "gpu", "cpu")
	require.Equal(t, map[int][2]int{1: {1, 4}, 2: {2, 5}}, countsAfter(t, s, "peak", 1))
	s.Options.Nodes = 20
	require.Equal(t, map[int][2]int{1: {2, 5}, 2: {2, 5}}, countsAfter(t, s, "peak", 1))
}

// Peak reaches the lower bound if all jobs fit.
func TestPeakReachesTheBound(t *testing.T) {
	s := small(100, 4, spec(1, 1, 90), spec(2, 2, 7), spec(3, 1, 11))
	kind, err := schedulers.Named("peak")
	require.NoError(t, err)
	result, err := s.Run(t.Context(), kind)
	require.NoError(t, err)
	bound, err := elastic.LowerBound(s)
	require.NoError(t, err)
	require.InDelta(t, bound.Mean, result.MeanJCT, 1e-9)
}

// One more worker or one more server saves no time; both together do.
func TestFrontierLeavesLocalOptima(t *testing.T) {
	s := small(20, 4, spec(1, 1, 900))
	s.Speed = tableOf(func(servers, workers int) float64 { return float64(min(servers, workers)) }, "gpu", "cpu")
	require.Equal(t, map[int][2]int{1: {1, 1}}, countsAfter(t, s, "optimus", 1))
	require.Equal(t, map[int][2]int{1: {4, 4}}, countsAfter(t, s, "frontier", 1))
}

// The cluster has room for four bundles, and tasks save the long job more time.
func TestFrontierWeighsRemainingTime(t *testing.T) {
	s := small(2, 4, spec(1, 1, 90), spec(2, 1, 9))
	require.Equal(t, map[int][2]int{1: {3, 1}, 2: {1, 1}}, countsAfter(t, s, "frontier", 1))
}
