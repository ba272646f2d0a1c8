package lucid_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/lucid"
	"graft/cluster/schedtest"
)

// The profiler's defaults fit other virtual clusters than in Venus, and nodes of any size.
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
	o, err := c.Study.Run(context.Background(), lucid.Policy(lucid.Options{}), cluster.Options{})
	require.NoError(t, err)
	require.Empty(t, o.Refused)
	require.True(t, lucid.Of(o.Jobs[0]).Skipped)
	require.False(t, lucid.Of(o.Jobs[1]).Profiled, "it is larger than the profiler")
	require.True(t, lucid.Of(o.Jobs[2]).Profiled)
	nodes := []int{}
	for _, p := range o.Pools {
		nodes = append(nodes, p.Nodes)
	}
	require.Equal(t, []int{1, 3, 2, 2}, nodes, "the largest give a node each")
}

func TestLucidRefuses(t *testing.T) {
	c, err := schedtest.Parse("each 2\nvc a 3\nvc b 3\nalone m1 0\njob j1 vc a at 0 for 50 on 2 model m1 estimate 9\n")
	require.NoError(t, err)
	for want, o := range map[string]lucid.Options{
		"the profiler has 4 devices, but must profile jobs that request": {Nodes: 2, Largest: 5},
		`virtual cluster "elsewhere" is unknown or has no nodes left`:    {Nodes: 1, From: []string{"elsewhere"}},
	} {
		_, err := c.Study.Run(context.Background(), lucid.Policy(o), cluster.Options{})
		require.ErrorContains(t, err, want)
	}
	c.Study.Profiles = nil
	_, err = c.Study.Run(context.Background(), lucid.Policy(lucid.Options{}), cluster.Options{})
	require.ErrorContains(t, err, "set cluster.data (option data) to the folder that contains them")
}

// The nodes of the profiler count in the used share and in the energy, also if a later run of the study reads the
// profiler's results from its memory.
func TestTheProfilersNodesCount(t *testing.T) {
	c, err := schedtest.Parse(`each 8
vc a 2
vc b 2
vc c 1
alone m1 0
job first vc a at 0 for 100 on 8 model m1 estimate 9
job long vc b at 0 for 1000 on 16 model m1 estimate 9
job last vc a at 10000 for 100 on 8 model m1 estimate 9
`)
	require.NoError(t, err)
	policy := lucid.Policy(lucid.Options{From: []string{"a"}, Nodes: 1})
	for range 2 {
		o, err := c.Study.Run(context.Background(), policy, cluster.Options{})
		require.NoError(t, err)
		require.Empty(t, o.Refused)
		require.True(t, lucid.Of(o.Jobs[0]).Skipped && lucid.Of(o.Jobs[2]).Skipped, "they end in the profiler")
		require.Equal(t, int64(10_100), o.Jobs[2].End)
		inUse := 8*100 + 16*float64(o.Jobs[1].End-o.Jobs[1].Start)
		require.InDelta(t, inUse/(5*8*10_000), o.Used(), 1e-9, "until the last submission")
		require.InDelta(t, 5*8*10_100+inUse+8*100, o.Joules(cluster.Power{Busy: 2, Idle: 1}), 1e-6)
	}
}
