package schedulers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
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
