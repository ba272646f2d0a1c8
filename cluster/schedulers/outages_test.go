package schedulers

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/failures"
	"graft/cluster/trace"
)

// The table of outages has the planned ends of outages that last beyond the simulation, so that replaying the table has
// the same effect. Outages that end before the simulation begins are left out.
func TestTheTableOfOutagesHasPlannedEnds(t *testing.T) {
	policy, err := Named("fifo")
	require.NoError(t, err)
	fails := func(node int, from, to int64) failures.Outage {
		return failures.Outage{Node: node, From: from, To: to}
	}
	study := cluster.Study{VCs: oneCluster(4), PerNode: 1, Begin: 1000,
		Jobs: []trace.Job{{ID: "a", VC: "a", Submit: 1000, Duration: 500, GPUs: 1}}}
	study.Failures = &cluster.Failures{Pools: map[string]failures.Schedule{"a": {
		Listed: []failures.Outage{fails(0, 100, 900), fails(0, 1100, 9000), fails(1, 200, 1200), fails(2, 1300,
			failures.Never), fails(0, 5000, 9500), fails(1, 100, 150)},
		Sudden: []failures.Outage{fails(3, 1400, 7000), fails(1, 300, 999)},
		Start:  1000, Period: 2000, Failures: []failures.Outage{fails(3, 400, 1800)},
	}}}
	out, err := study.Run(t.Context(), policy, cluster.Options{})
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, out.WriteOutages(&b))
	require.Equal(t, `vc,node,from [s],to [s],kind,class,jobs
a,1,200,1200,failure,,0
a,0,1100,9500,failure,,1
a,2,1300,,failure,,1
a,3,1400,7000,unannounced-drain,,0
a,3,1400,2800,failure,,0
`, b.String())
}
