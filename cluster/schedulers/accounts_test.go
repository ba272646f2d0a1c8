package schedulers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/failures"
	"graft/cluster/lucid"
	"graft/cluster/trace"
)

// accounted runs a study under a scheduler. Jobs without a virtual cluster run on "a".
func accounted(t *testing.T, name string, s cluster.Study) *cluster.Outcome {
	policy, err := Named(name)
	require.NoError(t, err)
	for k := range s.Jobs {
		if s.Jobs[k].VC == "" {
			s.Jobs[k].VC = "a"
		}
	}
	o, err := s.Run(t.Context(), policy, cluster.Options{Placement: "consolidate"})
	require.NoError(t, err)
	return o
}

func oneCluster(nodes int) []trace.VC { return []trace.VC{{Name: "a", Nodes: nodes}} }

// A spare node that replaces a drained node wakes tiresias, although the number of devices stays the same.
func TestTiresiasSeesOtherNodes(t *testing.T) {
	o := accounted(t, "tiresias", cluster.Study{VCs: oneCluster(1),
		Jobs: []trace.Job{{ID: "1", GPUs: 8, Duration: 2000}, {ID: "2", Submit: 50_000, GPUs: 8, Duration: 10}},
		Failures: &cluster.Failures{Spares: 1, Pools: map[string]failures.Schedule{
			"a": {Drains: []failures.Outage{{Node: 0, From: 1000, To: 2000}}}}}})
	require.LessOrEqual(t, o.Jobs[0].Start, int64(1060))
	require.LessOrEqual(t, o.Jobs[0].End, int64(3100))
}

// A job that shrinks holds its devices during the restart delay and works after it. A second failure during the delay
// loses no work, and begins a new delay.
func TestShrunkJobsRestart(t *testing.T) {
	outage := func(node int, from, to int64) failures.Outage { return failures.Outage{Node: node, From: from, To: to} }
	for name, c := range map[string]struct {
		outages    []failures.Outage
		end, delay int64
		lost       float64
	}{
		// 1000 s on 24 GPUs, 300 s of delay, 2000 s of work on 16
		"one failure": {[]failures.Outage{outage(0, 1000, cluster.Never)}, 1000 + 300 + 3000, 300, 0},
		// the second delay begins at 1100; 2000 s of work on 8 GPUs
		"two failures": {[]failures.Outage{outage(0, 1000, cluster.Never), outage(1, 1100, cluster.Never)},
			1100 + 300 + 6000, 400, 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := accounted(t, "fair", cluster.Study{VCs: oneCluster(3),
				Jobs: []trace.Job{{ID: "1", GPUs: 24, Duration: 3000}},
				Failures: &cluster.Failures{Checkpoint: 100, Restart: 300, Shrink: true,
					Pools: map[string]failures.Schedule{"a": {Listed: c.outages}}}})
			j := o.Jobs[0]
			require.InDelta(t, c.end, j.End, 1)
			require.Equal(t, c.delay, j.Lost().Delay)
			require.Equal(t, c.lost, j.Lost().Work)
			require.Zero(t, j.Queue)
		})
	}
}

// All pools count until the last job of any pool: devices of a virtual cluster whose jobs have ended are idle.
func TestIdlePoolsCount(t *testing.T) {
	s := cluster.Study{VCs: []trace.VC{{Name: "a", Nodes: 1}, {Name: "b", Nodes: 1}, {Name: "empty", Nodes: 2}},
		Jobs: []trace.Job{{ID: "1", GPUs: 8, Duration: 100}, {ID: "2", VC: "b", GPUs: 8, Duration: 100},
			{ID: "3", VC: "b", Submit: 10_000, GPUs: 8, Duration: 100}}}
	o := accounted(t, "fifo", s)
	require.InDelta(t, 2*8*100/(4*8*10_000.), o.Used(), 1e-9)
	require.InDelta(t, 4*8*10_100+3*8*100, o.Joules(cluster.Power{Busy: 2, Idle: 1}), 1e-6)

	s.Failures = &cluster.Failures{Pools: map[string]failures.Schedule{
		"a": {Listed: []failures.Outage{{Node: 0, From: 200, To: 3000}}}}}
	out := accounted(t, "fifo", s).Outages()
	require.Equal(t, 1, out.Failures)
	require.InDelta(t, 1-2800/(3*10_000+10_100.), out.Availability, 1e-9)
}

// The profiler of lucid has only nodes that it takes from the cluster.
func TestLucidTakesItsNodes(t *testing.T) {
	policy := lucid.Policy(lucid.Options{Largest: 7})
	s := cluster.Study{VCs: oneCluster(2), Estimates: []float64{100, 100, 100}, Profiles: &cluster.Profiles{},
		Jobs: []trace.Job{{ID: "1", GPUs: 7, Duration: 400}, {ID: "2", GPUs: 7, Duration: 400},
			{ID: "3", GPUs: 8, Duration: 400}}}
	for k := range s.Jobs {
		s.Jobs[k].VC = "a"
	}
	o, err := s.Run(t.Context(), policy, cluster.Options{Placement: "consolidate", Changes: true})
	require.NoError(t, err)
	first := map[int64]int{}
	for _, j := range o.Jobs {
		first[j.Start] += j.Trace.GPUs
	}
	require.LessOrEqual(t, first[0], 16, "%v", first)

	s.VCs = oneCluster(1)
	_, err = s.Run(t.Context(), policy, cluster.Options{Placement: "consolidate"})
	require.ErrorContains(t, err, "has no nodes left for the profiler")
}

// Time limits that are enforced and shorter than the work decide the order of sjf and srtf.
func TestShortestUntilLimit(t *testing.T) {
	for _, types := range [][]cluster.NodeType{nil, {{Name: "x", Speed: 1, Nodes: map[string]int{"a": 1}}}} {
		for _, name := range []string{"sjf", "srtf"} {
			o := accounted(t, name, cluster.Study{VCs: oneCluster(1), Limits: true, Types: types,
				Jobs: []trace.Job{{ID: "0", GPUs: 8, Duration: 100, Limit: 1000},
					{ID: "1", Submit: 10, GPUs: 8, Duration: 10_000, Limit: 200},
					{ID: "2", Submit: 10, GPUs: 8, Duration: 1000, Limit: 5000}}})
			require.Less(t, o.Jobs[1].End, o.Jobs[2].End, name)
			require.True(t, o.Jobs[1].TimedOut())
		}
	}
}

// halved is a speed model in which running jobs halve each other's rates.
type halved struct{ cluster.LinearSpeed }

func (halved) Together(running []*cluster.Job, rates []float64) {
	for k := range running {
		rates[k] = 1
		if len(running) > 1 {
			rates[k] = 0.5
		}
	}
}

// srtf compares the remaining work of jobs whose rates changed after their start: at second 600, the first job has
// 600 s of work left and not 300 s, so a job of 400 s preempts it.
func TestSRTFWithLinks(t *testing.T) {
	o := accounted(t, "srtf", cluster.Study{VCs: oneCluster(3), Speed: halved{},
		Jobs: []trace.Job{{ID: "a", GPUs: 12, Duration: 900}, {ID: "b", Submit: 1, GPUs: 12, Duration: 450},
			{ID: "w", Submit: 600, GPUs: 12, Duration: 400}}})
	require.Equal(t, int32(1), o.Jobs[0].Preemptions)
	require.LessOrEqual(t, o.Jobs[2].Start, int64(601))
}

// The slowdown of a job that reached its time limit is relative to the limit.
func TestSlowdownOfTimedOutJobs(t *testing.T) {
	o := accounted(t, "fifo", cluster.Study{VCs: oneCluster(1), Limits: true,
		Jobs: []trace.Job{{ID: "0", GPUs: 8, Duration: 5990}, {ID: "1", GPUs: 8, Duration: 10_000, Limit: 500}}})
	var z cluster.Summarizer
	require.InDelta(t, (1+6490/500.)/2, z.Summarize(o.Jobs).Slowdown, 0.01)
}

// A job that waits for spot jobs, and then for a restart delay, counts each wait once if another job preempts it.
func TestWaitsForSpotJobsAndRestartsAreSeparate(t *testing.T) {
	o := accounted(t, "srtf", cluster.Study{VCs: oneCluster(2), Spot: &cluster.Spot{Notice: 600},
		Jobs: []trace.Job{{ID: "s", GPUs: 16, Duration: 5000, Spot: true},
			{ID: "a", Submit: 100, GPUs: 16, Duration: 1000}, {ID: "b", Submit: 120, GPUs: 16, Duration: 10}},
		Failures: &cluster.Failures{Shrink: true, Restart: 590, Pools: map[string]failures.Schedule{
			"a": {Listed: []failures.Outage{{Node: 1, From: 115, To: 118}}}}}})
	a := o.Jobs[1]
	require.GreaterOrEqual(t, a.Lost().Delay, int64(0))
	require.Equal(t, a.End-a.Trace.Submit, a.Queue+a.Lost().Delay+1000+40, "it repeats 40 s after its preemption")
}

// A simulation ends with an error if a job shrinks and grows so often that it repeats more work than it does.
func TestJobsThatNeverEndAreAnError(t *testing.T) {
	fair, err := Named("fair")
	require.NoError(t, err)
	var often []failures.Outage
	for k := range 4 {
		often = append(often, failures.Outage{Node: k, From: int64(60 * k), To: int64(60*k + 10)})
	}
	study := cluster.Study{VCs: oneCluster(4), Jobs: []trace.Job{{ID: "1", VC: "a", GPUs: 32, Duration: 20_000}},
		Failures: &cluster.Failures{Shrink: true, Pools: map[string]failures.Schedule{
			"a": {Failures: often, Period: 240}}}}
	_, err = study.Run(t.Context(), fair, cluster.Options{})
	require.ErrorContains(t, err, "failures hit job 1 10000 times, and its work left is")
}

// A job on a tenth of a GPU needs a tenth of the GPU time: qssf starts it before a shorter job on the whole GPU, and
// under tiresias it stays in the first queue for ten times as long.
func TestPartsOfGPUsTakePartsOfTime(t *testing.T) {
	jobs := []trace.Job{{ID: "0", GPUs: 1, Duration: 10}, {ID: "1", Submit: 1, GPUs: 1, Duration: 500},
		{ID: "2", Submit: 1, GPUs: 1, Share: 100, Duration: 1000}}
	o := accounted(t, "qssf", cluster.Study{VCs: oneCluster(1), PerNode: 1, Jobs: jobs,
		Estimates: []float64{10, 500, 1000}})
	require.Less(t, o.Jobs[2].Start, o.Jobs[1].Start)

	jobs = []trace.Job{{ID: "0", GPUs: 1, Share: 100, Duration: 100_000},
		{ID: "1", Submit: 50_000, GPUs: 1, Duration: 600}}
	o = accounted(t, "tiresias", cluster.Study{VCs: oneCluster(1), PerNode: 1, Jobs: jobs})
	require.Zero(t, o.Jobs[0].Preemptions)
	require.Equal(t, int64(100_000), o.Jobs[0].End)
}
