package fabric

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/failures"
	"graft/cluster/trace"
)

// half returns a ring whose step on several nodes takes 1 s, half of it in exchanges.
func half(asked ...int) Ring {
	return Ring{Asked: asked, Step: func(placement []int) (RingStep, error) {
		switch {
		case len(placement) == 1:
			return RingStep{0.5, 0, 0}, nil
		case len(placement) > 4:
			return RingStep{}, errors.New("too many nodes")
		}
		return RingStep{1, 0.5, 0.5}, nil
	}}
}

func onNodes(id string, nodes ...int) *cluster.Job {
	j := &cluster.Job{Trace: &trace.Job{ID: id}}
	for _, n := range nodes {
		j.Nodes = append(j.Nodes, cluster.Share{Node: n, GPUs: 1})
	}
	return j
}

// Two rings on a link slow each other only while both exchange, which is half of the time. Rings on other links and
// jobs without step times keep their rates.
func TestRingsShareLinks(t *testing.T) {
	tree := &Tree{Racks: 2, Servers: 4, Bandwidth: 100, Uplink: 100, Latency: 0}
	r := &Rings{Tree: tree, Other: cluster.LinearSpeed{}, Of: map[string]Ring{}}
	for _, id := range []string{"a", "b", "c", "d", "long"} {
		r.Of[id] = half(1, 1)
	}
	together := func(jobs ...*cluster.Job) []float64 {
		rates := make([]float64, len(jobs))
		r.Together(jobs, rates)
		return rates
	}
	alone := onNodes("a", 0, 1)
	require.Equal(t, []float64{1}, together(alone))
	require.Equal(t, []float64{1, 1}, together(alone, onNodes("b", 2, 3)), "no common link")
	crowded := 1 / (0.5 + 0.5*1.5) // twice as long in half of the time
	require.Equal(t, []float64{crowded, crowded}, together(alone, onNodes("b", 1, 2)))
	most := 1 / (0.5 + 0.5*2)
	require.Equal(t, []float64{most, most, most},
		together(onNodes("a", 0, 1), onNodes("b", 0, 1), onNodes("c", 0, 1)), "thrice as long in half of the time")
	require.Equal(t, []float64{crowded, crowded}, together(onNodes("a", 0, 4), onNodes("b", 1, 5)), "the uplinks")
	require.Equal(t, []float64{1, 0}, together(alone, onNodes("other", 0, 1)), "no step times: it keeps its rate")
	require.Contains(t, together(onNodes("a", 0, 9)), 0.0, "a node outside of the tree")
	require.Contains(t, together(onNodes("long", 0, 1, 2, 3, 4)), 0.0, "an unknown step time")
	rate, _ := r.Rates(cluster.Placement{Job: alone, GPUs: 2, Nodes: alone.Nodes[:1]})
	require.Equal(t, 2.0, rate, "one node needs no exchange")
	require.Equal(t, 40.0, r.Lost(alone))
}

// Transfers that are shorter than the exchange inside nodes slow a step only if they become longer than it.
func TestCrowdedStep(t *testing.T) {
	s := RingStep{Time: 1, Exchange: 0.5, Transfer: 0.25}
	require.Equal(t, []float64{1, 1, 1.25}, []float64{s.crowded(1), s.crowded(2), s.crowded(3)})
}

// A wider uplink reduces the slowdown of rings between racks.
func TestRingsOnUplinks(t *testing.T) {
	rate := func(uplink float64) float64 {
		r := &Rings{Tree: &Tree{Racks: 2, Servers: 4, Bandwidth: 100, Uplink: uplink}, Other: cluster.LinearSpeed{},
			Of: map[string]Ring{"a": half(1, 1), "b": half(1, 1)}}
		rates := make([]float64, 2)
		r.Together([]*cluster.Job{onNodes("a", 0, 4), onNodes("b", 1, 5)}, rates)
		return rates[0]
	}
	require.Less(t, rate(100), rate(150))
	require.Less(t, rate(150), rate(200))
	require.Equal(t, 1.0, rate(200))
}

// first starts jobs in order of arrival.
type first struct{ waiting []*cluster.Job }

func (s *first) Arrived(j *cluster.Job) { s.waiting = append(s.waiting, j) }
func (s *first) Ended(*cluster.Job)     {}
func (s *first) Schedule(p *cluster.Pool) int64 {
	for len(s.waiting) > 0 && p.Start(s.waiting[0]) {
		s.waiting = s.waiting[1:]
	}
	return cluster.Never
}

// Two jobs of three devices on nodes of two devices share a node's link. When the shorter job ends, the other regains
// its full rate.
func TestRingsChangeRatesInASimulation(t *testing.T) {
	job := func(id string, submit, duration int64) trace.Job {
		return trace.Job{ID: id, VC: "all", Submit: submit, Duration: duration, GPUs: 3, State: trace.Completed}
	}
	study := &cluster.Study{VCs: []trace.VC{{Name: "all", Nodes: 3}}, PerNode: 2,
		Jobs: []trace.Job{job("long", 0, 1000), job("short", 100, 100)},
		Speed: &Rings{Tree: &Tree{Racks: 1, Servers: 3, Bandwidth: 100, Uplink: 300}, Other: cluster.LinearSpeed{},
			Of: map[string]Ring{"long": half(2, 1), "short": half(2, 1)}}}
	policy := cluster.Policy{Name: "first",
		New: func(cluster.Setup) (cluster.Scheduler, error) { return &first{}, nil }}
	out, err := study.Run(context.Background(), policy, cluster.Options{Changes: true, Placement: "random"})
	require.NoError(t, err)
	// 100 s of work at a rate of 0.8 take 125 s, in which the long job does 100 s of work. Rounding may add a second.
	require.InDeltaSlice(t, []int64{1025, 125}, out.Completions(), 1)
	var links []float64
	for _, c := range out.Changes {
		if c.What == "links" {
			links = append(links, c.Rate)
		}
	}
	require.Equal(t, []float64{0.8, 0.8, 1}, links)
}

// A node that fails frees the links of its jobs.
func TestRingsOfFailedNodes(t *testing.T) {
	job := func(id string, gpus int) trace.Job {
		return trace.Job{ID: id, VC: "all", Duration: 1000, GPUs: gpus, State: trace.Completed}
	}
	study := &cluster.Study{VCs: []trace.VC{{Name: "all", Nodes: 3}}, PerNode: 2,
		Jobs: []trace.Job{job("long", 3), job("other", 3)},
		Failures: &cluster.Failures{Pools: map[string]failures.Schedule{"all": {
			Listed: []failures.Outage{{Node: 2, From: 100, To: 5000}}}}},
		Speed: &Rings{Tree: &Tree{Racks: 1, Servers: 3, Bandwidth: 100, Uplink: 300}, Other: cluster.LinearSpeed{},
			Of: map[string]Ring{"long": half(2, 1), "other": half(2, 1)}}}
	policy := cluster.Policy{Name: "first",
		New: func(cluster.Setup) (cluster.Scheduler, error) { return &first{}, nil }}
	out, err := study.Run(context.Background(), policy, cluster.Options{Placement: "random"})
	require.NoError(t, err)
	// 100 s at a rate of 0.8, then the other job waits for its node until the long job ends.
	require.InDelta(t, 1020, out.Completions()[0], 1)
}
