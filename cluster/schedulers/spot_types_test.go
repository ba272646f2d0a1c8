package schedulers

import (
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
