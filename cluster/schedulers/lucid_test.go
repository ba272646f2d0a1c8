package schedulers

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/schedtest"
	"graft/cluster/trace"
)

// The profiler's defaults fit virtual clusters that are not those of Venus, and nodes of any size.
func TestLucidDefaults(t *testing.T) {
	c, err := schedtest.Parse(`each 2
vc a 1
vc b 4
vc c 2
vc d 3
alone m1 0
job j1 vc a at 0 for 50 on 2 model m1 estimate 9
job j2 vc b at 0 for 500 on 6 model m1 estimate 9
job j3 vc b at 0 for 500 on 4 model m1 estimate 9
`)
	require.NoError(t, err)
	o, err := c.Study.Run(context.Background(), Lucid(LucidOptions{}), cluster.Options{})
	require.NoError(t, err)
	require.Empty(t, o.Refused)
	require.True(t, o.Jobs[0].Skipped)
	require.False(t, o.Jobs[1].Profiled, "it is larger than the profiler")
	require.True(t, o.Jobs[2].Profiled)
	nodes := []int{}
	for _, p := range o.Pools {
		nodes = append(nodes, p.Nodes)
	}
	require.Equal(t, []int{1, 3, 2, 2}, nodes, "the largest give a node each")
}

func TestLucidRefuses(t *testing.T) {
	c, err := schedtest.Parse("each 2\nvc a 3\nvc b 3\nalone m1 0\njob j1 vc a at 0 for 50 on 2 model m1 estimate 9\n")
	require.NoError(t, err)
	for want, o := range map[string]LucidOptions{
		"the profiler has 4 devices and should see jobs on up to 5": {Nodes: 2, Largest: 5},
		`virtual cluster "elsewhere" has no node`:                   {Nodes: 1, From: []string{"elsewhere"}},
	} {
		_, err := c.Study.Run(context.Background(), Lucid(o), cluster.Options{})
		require.ErrorContains(t, err, want)
	}
	c.Study.Profiles = nil
	_, err = c.Study.Run(context.Background(), Lucid(LucidOptions{}), cluster.Options{})
	require.ErrorContains(t, err, "there are no profiles of models")
}

// A node that comes lets jobs in that waited for it, under every scheduler.
func TestNodesThatCome(t *testing.T) {
	for _, policy := range Kinds() {
		if policy.Name == "lucid" { // whose pools change with its profiler, as other tests have it
			continue
		}
		t.Run(policy.Name, func(t *testing.T) {
			study := &cluster.Study{VCs: []trace.VC{{Name: "a", Nodes: 1}}, PerNode: 2, Estimates: []float64{5000, 5000},
				Jobs: []trace.Job{{ID: "1", VC: "a", GPUs: 2, Duration: 5000}, {ID: "2", VC: "a", GPUs: 2, Duration: 5000}}}
			policy.Prepare = func(_ context.Context, r *cluster.Run) error {
				r.Pools[0].Scalings = []cluster.Scaling{{At: 1000, Nodes: 1}}
				return nil
			}
			o, err := study.Run(context.Background(), policy, cluster.Options{})
			require.NoError(t, err)
			second := max(o.Jobs[0].Start, o.Jobs[1].Start)
			if policy.Name == "fair" { // which gave it a share of the first node before
				require.Less(t, max(o.Jobs[0].End, o.Jobs[1].End), int64(9000))
				return
			}
			require.Greater(t, second, int64(1000))
			require.LessOrEqual(t, second, int64(1080))
		})
	}
}
