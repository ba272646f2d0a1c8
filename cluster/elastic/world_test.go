package elastic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
)

// Tasks go to the least loaded node. The first of equally loaded nodes wins.
func TestLeastLoadedNodeFirst(t *testing.T) {
	s := studyOf(job(1, 0), job(2, 0))
	s.Options.Nodes = 3
	w := world(t, s)
	w.Begin()
	first, second := w.Jobs()[0], w.Jobs()[1]
	require.True(t, w.Add(first, elastic.Worker))  // node 0 has 6 slots in use
	require.True(t, w.Add(first, elastic.Server))  // node 1 has 2
	require.True(t, w.Add(second, elastic.Worker)) // node 2 has 6
	require.True(t, w.Add(second, elastic.Server)) // node 1 has 4
	require.True(t, w.Add(second, elastic.Server)) // node 1 has 6
	require.True(t, w.Add(second, elastic.Worker)) // node 0 is the first of equals
	require.Equal(t, []int{0}, first.Workers)
	require.Equal(t, []int{1}, first.Servers)
	require.Equal(t, []int{2, 0}, second.Workers)
	require.Equal(t, []int{1, 1}, second.Servers)
	require.Equal(t, elastic.Resources{4, 0}, w.Free(0))
	require.Equal(t, 3, w.Nodes())
	w.End()
	w.Begin()
	require.Equal(t, elastic.Resources{}, w.Used(), "a slot starts without tasks")
}

// The node with the fewest slots in use may lack the resource that a task needs.
func TestFirstNodeQuirk(t *testing.T) {
	for quirk, want := range map[string]bool{"": true, elastic.FirstNode.Name: false} {
		s := studyOf(job(1, 0))
		s.Types = []elastic.JobType{model}
		s.Types[0].Server = elastic.Resources{7, 0}
		s.Types[0].Worker = elastic.Resources{1, 8}
		s.Options.Quirks = []string{quirk}
		if quirk == "" {
			s.Options.Quirks = nil
		}
		w := world(t, s)
		w.Begin()
		j := w.Jobs()[0]
		require.True(t, w.Add(j, elastic.Worker)) // 9 slots of node 0
		require.True(t, w.Add(j, elastic.Server)) // 7 slots of node 1
		require.Equal(t, want, w.Add(j, elastic.Server), "node 0 has room for a server, the less loaded node 1 has not")
		require.False(t, w.Add(j, elastic.Server))
		require.False(t, w.Add(j, elastic.Server), "refused demands stay refused")
	}
}

func TestCountsHaveAMaximum(t *testing.T) {
	s := studyOf(job(1, 0))
	s.Options.Nodes, s.Options.Most = 100, 2
	w := world(t, s)
	w.Begin()
	j := w.Jobs()[0]
	require.True(t, w.Add(j, elastic.Worker))
	require.True(t, w.AddPair(j))
	require.False(t, w.Allowed(j, elastic.Worker))
	require.False(t, w.AddPair(j))
	require.False(t, w.Add(j, elastic.Bundle))
	require.False(t, w.AddOn(j, 5, elastic.Worker))
	require.True(t, w.AddOn(j, 5, elastic.Server))
	require.Equal(t, []int{1, 5}, j.Servers)
	require.False(t, w.Allowed(j, elastic.Server))
}

func TestSharesFollowTasks(t *testing.T) {
	s := studyOf(job(1, 0))
	w := world(t, s)
	w.Begin()
	j := w.Jobs()[0]
	w.AddPair(j)
	require.InDelta(t, 0.25, j.Share, tolerance, "4 of 16 slots of both kinds")
	w.Add(j, elastic.Server)
	require.InDelta(t, 0.375, j.Share, tolerance, "6 of 16 CPU slots")
	s.Options.Quirks = elastic.Compatible().Quirks
	w = world(t, s)
	w.Begin()
	w.Add(w.Jobs()[0], elastic.Server)
	require.Zero(t, w.Jobs()[0].Share, "the original does not follow single tasks")
}

// Estimates place the next tasks on the least loaded node and do not change the job.
func TestEstimate(t *testing.T) {
	s := studyOf(job(1, 0))
	s.Options.Most = 2
	w := world(t, s)
	w.Begin()
	j := w.Jobs()[0]
	require.Zero(t, w.Estimate(j, 0, 0))
	require.Zero(t, w.Estimate(j, 1, 0))
	require.InDelta(t, 120, w.Estimate(j, 1, 1), tolerance)
	require.Zero(t, w.Estimate(j, 3, 1), "beyond the maximum")
	require.Empty(t, j.Workers)
	workers, servers, epochs := w.Best(j.Model)
	require.Equal(t, []int{1, 1}, []int{workers, servers})
	require.InDelta(t, 120, epochs, tolerance)
}

func TestWindow(t *testing.T) {
	s := studyOf(job(4, 1), job(2, 0), job(3, 0))
	s.Options.Most, s.Options.Nodes = 2, 10
	for k := range s.Jobs {
		s.Jobs[k].RealEpochs = 1e6
	}
	w := world(t, s)
	w.Begin()
	w.End()
	w.Begin()
	jobs := w.Jobs() // 2, 3, 4
	w.AddPair(jobs[1])
	o := elastic.NewWindow(w, elastic.WindowOptions{Size: 2, Padding: -1})
	o.Observe()
	require.Equal(t, []*elastic.Job{jobs[0], jobs[1]}, o.Jobs)
	require.Equal(t, []float64{1, 1, 1, 1, 1, 1, 0, 0.05, 0, 1, 0, 1}, o.State)
	require.Equal(t, 7, o.Actions())
	require.Equal(t, 3, o.Label(jobs[1], elastic.Worker))
	require.Equal(t, 2, o.Label(jobs[0], elastic.Bundle))
	require.Equal(t, -1, o.Label(jobs[2], elastic.Worker), "outside of the window")
	w.AddPair(jobs[1])
	o.Observe()
	require.Equal(t, []*elastic.Job{jobs[0], jobs[2]}, o.Jobs, "a job at its maximum leaves the window")

	o = elastic.NewWindow(w, elastic.WindowOptions{Size: 3, Padding: -1, Bits: true, Rescale: true,
		Order: elastic.ByShare})
	w.Add(jobs[0], elastic.Server)
	o.Observe()
	require.Equal(t, []*elastic.Job{jobs[2], jobs[0], nil}, o.Jobs, "the smallest share first")
	require.Equal(t, []float64{
		0, 0, -1, 0, 0, -1, 0, 0, -1, 1, 1, -1, // type 1 in bits
		0, 0.01, -1, 1, 1, -1, 0, 0.025, -1, 0, 0, -1, 0, 0.5, -1,
	}, o.State)
}

func TestWindowWithoutServers(t *testing.T) {
	s := studyOf(job(1, 0))
	s.Options.AllReduce = true
	var labels []int
	w := world(t, s)
	elastic.Record(w, elastic.WindowOptions{}, func(s elastic.Sample) { labels = append(labels, s.Label) })
	w.Begin()
	w.AddPair(w.Jobs()[0])
	require.Equal(t, []int{0}, labels)
	require.Equal(t, 21, elastic.NewWindow(w, elastic.WindowOptions{}).Actions())
}
