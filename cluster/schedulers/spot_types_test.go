package schedulers

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/failures"
	"graft/cluster/trace"
)

// A spot job is evicted if its node lacks processors, by the limit of the node's own type.
func TestSpotJobsKeepTheLimitsOfTypes(t *testing.T) {
	types := func(cpus int) []cluster.NodeType {
		return []cluster.NodeType{{Name: "other", CPUs: 100 - cpus, Nodes: map[string]int{"a": 1}},
			{Name: "own", CPUs: cpus, Nodes: map[string]int{"a": 1}}}
	}
	for cpus, evictions := range map[int]int{10: 1, 90: 0} {
		o := accounted(t, "fifo", cluster.Study{VCs: oneCluster(2), Types: types(cpus), Spot: &cluster.Spot{},
			Jobs: []trace.Job{{ID: "s", GPUs: 2, CPUs: 8, Duration: 1000, Spot: true, GPUType: "own", NeedsType: true},
				{ID: "j", Submit: 100, GPUs: 2, CPUs: 8, Duration: 100, GPUType: "own", NeedsType: true}}})
		require.Equal(t, evictions, o.Jobs[0].Lost().Evictions, "%d processors", cpus)
	}
}

// The devices of a spot job that outlasts a drain are in service while it runs, so that utilization is at most 1.
func TestSpotJobsOnDrainedNodesAreInService(t *testing.T) {
	o := accounted(t, "fifo", cluster.Study{VCs: oneCluster(1), Spot: &cluster.Spot{},
		Jobs: []trace.Job{{ID: "s", GPUs: 8, Duration: 1000, Spot: true},
			{ID: "j", Submit: 1000, GPUs: 1, Duration: 1}},
		Failures: &cluster.Failures{Pools: map[string]failures.Schedule{
			"a": {Sudden: []failures.Outage{{Node: 0, From: 100, To: 2000}}}}}})
	require.InDelta(t, 1, o.Used(), 1e-9)
	require.GreaterOrEqual(t, o.Pools[0].AllEver, o.Pools[0].UsedEver)

}

// packing starts each job on free devices or, if there are none, on the devices of a running job.
type packing struct{ waiting []*cluster.Job }

func (s *packing) Arrived(j *cluster.Job) { s.waiting = append(s.waiting, j) }

func (*packing) Ended(*cluster.Job) {}

func (s *packing) Schedule(p *cluster.Pool) int64 {
	s.waiting = slices.DeleteFunc(s.waiting, func(j *cluster.Job) bool {
		if p.Start(j) {
			return true
		}
		for host := range p.Running() {
			if host.Partner() == nil && p.Pack(j, host) {
				return true
			}
		}
		return false
	})
	return cluster.Never
}

// A job whose partner is evicted has its devices for itself, and its full speed.
func TestPartnersOfEvictedJobsRunAlone(t *testing.T) {
	policy := cluster.Policy{Name: "packing",
		New: func(cluster.Setup) (cluster.Scheduler, error) { return &packing{}, nil }}
	job := func(id string, submit, duration int64, cpus int, spot bool) trace.Job {
		return trace.Job{ID: id, VC: "a", Submit: submit, GPUs: 1, CPUs: cpus, Duration: duration, Spot: spot}
	}
	s := cluster.Study{VCs: oneCluster(1), PerNode: 3, CPUs: 12, Spot: &cluster.Spot{Notice: 100},
		Profiles: &cluster.Profiles{Pairs: map[[2]cluster.Config][2]float64{{}: {0.5, 0.5}}},
		Jobs: []trace.Job{job("a", 0, 150, 0, false), job("b", 0, 150, 0, false), job("host", 0, 1000, 4, true),
			job("guest", 0, 1000, 4, true), job("other", 200, 5000, 8, false)}}
	o, err := s.Run(t.Context(), policy, cluster.Options{})
	require.NoError(t, err)
	host, guest := o.Jobs[2], o.Jobs[3]
	require.Equal(t, 1, guest.Lost().Evictions)
	require.Zero(t, host.Lost().Evictions)
	require.Equal(t, int64(300+850), host.End, "half the speed for 300 s, then the full speed")
}
