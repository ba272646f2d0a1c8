package world

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/fabric"
	"graft/cluster/fabric/graph"
	"graft/cluster/study"
)

// newFile returns a file whose jobs train a chain of two operations.
func newFile(t *testing.T, change func(f *File)) *File {
	t.Helper()
	f := New()
	change(f)
	f.EnsureDefaults()
	require.NoError(t, f.Validate())
	f.profiles = []*graph.Profile{{Model: "chain", Nodes: []graph.Node{
		{ID: 1, Kind: "Linear", Forward: 2, Backward: 4, Activation: 4e6, Parameters: 1e6},
		{ID: 2, Kind: "Linear", Forward: 1, Backward: 2, Activation: 4e4, Parameters: 1e4},
	}, Edges: [][2]int{{0, 1}}}}
	for _, name := range f.Schedule.Schedulers {
		kind, err := named(name)
		require.NoError(t, err)
		f.schedulers = append(f.schedulers, Scheduler{Kind: kind})
	}
	return f
}

// Varied networks have a kind and a size, and racks keep their share of the uplink.
func TestNetworksThatVary(t *testing.T) {
	f := newFile(t, func(f *File) {
		f.Fabric = Options{Network: "tree", Size: []int{2, 4}, Bandwidth: 1e9, Uplink: 1e9}
		f.Vary.Networks = []string{"tree", "tree 3x5", "ramp"}
	})
	var names []string
	for _, p := range f.points() {
		names = append(names, p.network)
		s, err := f.cluster(&p, nil)
		require.NoError(t, err)
		if tree, ok := s.Network.(*fabric.Tree); ok {
			require.InDelta(t, 0.25, tree.Uplink/(tree.Bandwidth*float64(tree.Servers)), 1e-12)
		}
	}
	require.Equal(t, []string{"tree 2x4", "tree 3x5", "ramp 4x4x2"}, names)
	const on = "on tree 2x4 with 8 servers, tree 3x5 with 15 servers, ramp 4x4x2 with 32 servers"
	plan := f.Study().Plan()
	require.Contains(t, plan.Title, on)
	require.NotContains(t, plan.Facts, "servers")
	summary, err := f.Summary()
	require.NoError(t, err)
	require.Contains(t, summary, on+", under")
	f.Vary.Networks = nil
	require.Contains(t, f.title(), "on tree with 8 servers;")
}

// Every combination of values is a point. The jobs of an episode depend only on the demand.
func TestPoints(t *testing.T) {
	f := newFile(t, func(f *File) {
		f.Vary.Loads, f.Vary.Bandwidths = []float64{0.5, 1}, []float64{1e9, 1e10, 1e11}
	})
	points := f.points()
	require.Len(t, points, 6)
	require.Equal(t, study.Point{Name: "load 0.5, bandwidth 1 GB/s",
		Values: map[string]float64{"load": 0.5, "bandwidth_gb_per_s": 1}}, points[0].plan())
	require.Equal(t, "load 1, bandwidth 100 GB/s", points[5].name())
	jobs := func(at, episode int) any {
		s, err := f.cluster(&points[at], nil)
		require.NoError(t, err)
		drawn, err := f.episode(s, &points[at], episode)
		require.NoError(t, err)
		return drawn.Jobs
	}
	require.Equal(t, jobs(0, 0), jobs(1, 0), "another bandwidth")
	require.NotEqual(t, jobs(0, 0), jobs(3, 0), "another load")
	require.NotEqual(t, jobs(0, 0), jobs(0, 1), "another episode")
	only := newFile(t, func(*File) {}).points()
	require.Len(t, only, 1)
	require.Empty(t, only[0].name())
}

// A search stops when its context ends.
func TestTheSearchStops(t *testing.T) {
	f := newFile(t, func(f *File) {
		f.Schedule.Schedulers, f.Demand.Jobs, f.Demand.TestCount = []string{Exact}, 300, 3
		f.Vary.Loads = []float64{1, 2}
	})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.ErrorIs(t, f.Study().Prepare(ctx, study.Env{}, true), context.Canceled)
	ctx, stop = context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer stop()
	began := time.Now()
	require.ErrorIs(t, f.Study().Prepare(ctx, study.Env{}, true), context.DeadlineExceeded)
	require.Less(t, time.Since(began), time.Minute, "a busy machine may take seconds")
}

// Seeds of a random scheduler start at 0 and give different results on the same jobs.
func TestSeedsOfSchedulers(t *testing.T) {
	f := newFile(t, func(f *File) { f.Schedule.Schedulers, f.Schedule.Seeds = []string{"random"}, 2 })
	s := f.Study()
	require.Equal(t, []uint64{0, 1}, s.Plan().Schedulers[0].Seeds)
	blocked := func(seed uint64) study.Number {
		r, err := s.Simulate(t.Context(), &study.Cell{Seed: seed, Run: int(seed)})
		require.NoError(t, err)
		return r.Values["blocked_share"]
	}
	require.NotEqual(t, blocked(0), blocked(1))
	require.Equal(t, blocked(1), blocked(1))
	require.NotEqual(t, f.draws(0, 0).Uint64(), f.draws(0, 1).Uint64())
	require.Equal(t, f.draws(1, 0).Uint64(), newFile(t, func(f *File) { f.Demand.Seed = 2 }).draws(0, 0).Uint64())
}

// States of jobs differ exactly if the jobs ended or ran differently.
func TestStates(t *testing.T) {
	f := newFile(t, func(f *File) { f.Demand.Jobs = 20 })
	at := (&simulations{File: f, points: f.points()}).setting(0, nil)
	one, err := at.play(t.Context(), 0, fabric.Thrifty{})
	require.NoError(t, err)
	other, err := at.play(t.Context(), 0, fabric.Never{})
	require.NoError(t, err)
	require.Equal(t, statesOf(one), statesOf(one))
	a, b := statesOf(one), statesOf(other)
	for k := range a {
		same := one.Jobs[k].Status == other.Jobs[k].Status && equal(one.Jobs[k].Started, other.Jobs[k].Started) &&
			equal(one.Jobs[k].Ended, other.Jobs[k].Ended)
		require.Equal(t, same, a[k] == b[k], k)
	}
}

func equal(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
