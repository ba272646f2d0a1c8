package adaptive

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
	"graft/trainer/goodput"
)

// Jobs of a trace train applications of their size, request no more than the cluster, and depend only on the seed.
func TestJobsOfATrace(t *testing.T) {
	speed := goodput.Speed{ComputeExample: 0.01, NodesStart: 0.1, NodeStart: 0.01, NodesDevice: 0.01, NodeDevice: 0.01,
		Overlap: 2}
	limits := goodput.Limits{Least: 16, Most: 128, DeviceLeast: 8, DeviceMost: 64}
	apps := map[string]*Application{
		"short": made("short", limits, 1, 0, speed, 1),   // 16 s on one device
		"alone": made("alone", limits, 2, 128, speed, 1), // 32 s
		"long":  made("long", limits, 3000, 0, speed, 1), // 13 hours
	}
	jobs := []trace.Job{{ID: "a", Submit: 100, Duration: 60, GPUs: 2}, {ID: "b", Submit: 110, Duration: 7200, GPUs: 8},
		{ID: "c", Submit: 120, Duration: 1e6, GPUs: 64}}
	for range 40 {
		jobs = append(jobs, trace.Job{ID: string(rune(0x4e00 + len(jobs))), Submit: 130, Duration: 100, GPUs: 4})
	}
	draw := func() []Spec {
		specs, err := FromTrace(jobs, apps, Options{Nodes: 2, Devices: 4}, rand.New(rand.NewPCG(1, 2)))
		require.NoError(t, err)
		return specs
	}
	specs := draw()
	require.Equal(t, specs, draw())
	s := Study{Jobs: specs, Options: Options{Nodes: 2, Devices: 4}}
	s.Options.EnsureDefaults()
	require.NoError(t, s.Validate())
	require.InDelta(t, 0.0, specs[0].Submitted, 0)
	require.InDelta(t, 10.0, specs[1].Submitted, 0)
	require.Equal(t, "long", specs[1].App.Name, "16 device-hours")
	require.Equal(t, "long", specs[2].App.Name, "of the nearest class")
	require.Equal(t, 8, specs[2].Devices, "the cluster has no more")
	kinds := map[string]int{}
	for _, j := range specs[3:] {
		kinds[j.App.Name]++
		if j.App.Alone > 0 {
			require.Equal(t, []int{1, 128}, []int{j.Devices, j.Batch})
		} else {
			require.Equal(t, []int{4, 64}, []int{j.Devices, j.Batch})
		}
	}
	require.Zero(t, kinds["long"])
	require.Positive(t, kinds["short"])
	require.Positive(t, kinds["alone"])
	_, err := FromTrace(nil, apps, Options{}, rand.New(rand.NewPCG(1, 2)))
	require.Error(t, err)
}
