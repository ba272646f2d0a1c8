package schedulers_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/elastic"
	"graft/cluster/elastic/schedulers"
)

// tableOf is a speed table with a rule for all models.
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

// counts returns workers and servers by ID after a scheduler's decision in the first slots.
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

// The first job leaves CPU slots that only the third can use.
func TestFIFOGoesOnBehindABlockedJob(t *testing.T) {
	s := small(2, 3, spec(1, 1, 90), spec(2, 1, 90), spec(3, 2, 90))
	s.Types[0].Server = elastic.Resources{0, 0}
	require.Equal(t, map[int][2]int{1: {3, 3}, 2: {1, 1}, 3: {2, 2}}, countsAfter(t, s, "fifo", 1))
	s.Types[0].Worker = elastic.Resources{2, 8}
	require.Equal(t, map[int][2]int{1: {2, 2}, 2: {0, 0}, 3: {2, 2}}, countsAfter(t, s, "fifo", 1))
	require.Equal(t, map[int][2]int{1: {2, 2}, 2: {0, 0}, 3: {0, 0}}, countsAfter(t, s, "fifo", 1, elastic.FirstNode))
}

// Job 1 has done half of a long run, job 2 nothing of a short one.
func TestSRTFOrdersByTime(t *testing.T) {
	s := small(1, 2, spec(1, 1, 20), elastic.Spec{ID: 2, Type: 1, Arrival: 5, Epochs: 3, RealEpochs: 3})
	require.Equal(t, map[int][2]int{1: {0, 0}, 2: {2, 2}}, countsAfter(t, s, "srtf", 6))
	require.Equal(t, map[int][2]int{1: {2, 2}, 2: {0, 0}}, countsAfter(t, s, "srtf", 6, elastic.RemainingFraction))
}

func TestDRFSharesEvenly(t *testing.T) {
	s := small(3, 16, spec(1, 1, 90), spec(2, 1, 90), spec(3, 1, 90))
	require.Equal(t, map[int][2]int{1: {2, 2}, 2: {2, 2}, 3: {2, 2}}, countsAfter(t, s, "drf", 1))
}

// Of equal demands Tetris takes the short job, the original the one that has more left.
func TestTetrisPrefersShortJobs(t *testing.T) {
	s := small(1, 2, spec(1, 1, 400), spec(2, 1, 40), elastic.Spec{ID: 3, Type: 1, Epochs: 400, RealEpochs: 400})
	require.Equal(t, map[int][2]int{1: {0, 0}, 2: {2, 2}, 3: {0, 0}}, countsAfter(t, s, "tetris", 1))
	require.Equal(t, map[int][2]int{1: {2, 2}, 2: {0, 0}, 3: {0, 0}},
		countsAfter(t, s, "tetris", 1, elastic.LongestFirst))
	require.Equal(t, map[int][2]int{1: {0, 0}, 2: {2, 2}, 3: {0, 0}},
		countsAfter(t, s, "tetris", 2, elastic.LongestFirst))
}

// A job of many GPUs does not keep a job of CPUs from the rest of a node.
func TestTetrisFillsNodes(t *testing.T) {
	s := small(1, 16, spec(1, 1, 90), spec(2, 2, 90))
	s.Types[0].Worker = elastic.Resources{1, 8}
	s.Types[0].Server = elastic.Resources{1, 0}
	require.Equal(t, [2]int{1, 1}, countsAfter(t, s, "tetris", 1)[2])
}

// Both tasks save as much time; the server costs less of the cluster.
func TestOptimusPrefersCheapTasks(t *testing.T) {
	s := small(2, 16, spec(1, 1, 90))
	s.Speed = tableOf(func(servers, workers int) float64 { return 10 + float64(min(workers+servers, 4)) }, "gpu", "cpu")
	require.Equal(t, map[int][2]int{1: {1, 3}}, countsAfter(t, s, "optimus", 1))
}

// Counts beyond which a job slows down are not exceeded, however much room there is.
func TestOptimusStopsAtThePeak(t *testing.T) {
	s := small(20, 16, spec(1, 1, 90))
	s.Speed = tableOf(func(servers, workers int) float64 {
		return 10 - math.Abs(float64(workers-3)) - math.Abs(float64(servers-2))
	}, "gpu", "cpu")
	require.Equal(t, map[int][2]int{1: {3, 2}}, countsAfter(t, s, "optimus", 1))
}

// Where the table has no usable speed, jobs grow until they move.
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

// Jobs that outlived their estimates still take what speeds them up.
func TestOptimusAndOverruns(t *testing.T) {
	late := elastic.Spec{ID: 1, Type: 1, Epochs: 1, RealEpochs: 1000}
	s := small(20, 8, late)
	require.Equal(t, 8, countsAfter(t, s, "optimus", 5)[1][0])
	require.Equal(t, 1, countsAfter(t, s, "optimus", 5, elastic.NoCost)[1][0], "the original holds it at one")
}

// Each job gets the numbers of tasks at its peak, as far as there is room.
func TestPeak(t *testing.T) {
	s := small(3, 16, spec(1, 1, 900), spec(2, 1, 90))
	s.Speed = tableOf(func(servers, workers int) float64 {
		return 20 - math.Abs(float64(workers-2)) - math.Abs(float64(servers-5))
	}, "gpu", "cpu")
	require.Equal(t, map[int][2]int{1: {1, 4}, 2: {2, 5}}, countsAfter(t, s, "peak", 1))
	s.Options.Nodes = 20
	require.Equal(t, map[int][2]int{1: {2, 5}, 2: {2, 5}}, countsAfter(t, s, "peak", 1))
}

// While there is room for all, peak reaches the lower bound.
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

// One more worker, or one more server, saves nothing; both together do.
func TestFrontierLeavesLocalOptima(t *testing.T) {
	s := small(20, 4, spec(1, 1, 900))
	s.Speed = tableOf(func(servers, workers int) float64 { return float64(min(servers, workers)) }, "gpu", "cpu")
	require.Equal(t, map[int][2]int{1: {1, 1}}, countsAfter(t, s, "optimus", 1))
	require.Equal(t, map[int][2]int{1: {4, 4}}, countsAfter(t, s, "frontier", 1))
}

// Room for four bundles: the marginal time of the long job is worth more.
func TestFrontierWeighsRemainingTime(t *testing.T) {
	s := small(2, 4, spec(1, 1, 90), spec(2, 1, 9))
	require.Equal(t, map[int][2]int{1: {3, 1}, 2: {1, 1}}, countsAfter(t, s, "frontier", 1))
}
