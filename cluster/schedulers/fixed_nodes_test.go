package schedulers

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/failures"
	"graft/cluster/trace"
)

// Jobs named f are fixed. They start when nodes change, although the number of devices stays the same; a job that they
// preempt starts on fewer devices; and they leave a device of its type, and its processors, to each resizable job.
func TestFixedJobsOnNodes(t *testing.T) {
	types := []cluster.NodeType{{Name: "x", Speed: 2, Nodes: map[string]int{"a": 1}},
		{Name: "y", Nodes: map[string]int{"a": 1}}}
	outages := func(s failures.Schedule) *cluster.Failures {
		return &cluster.Failures{Pools: map[string]failures.Schedule{"a": s}}
	}
	both := []failures.Outage{{Node: 0, From: 1000, To: 3000}, {Node: 1, From: 1000, To: 3000}}
	for name, c := range map[string]struct {
		study cluster.Study
		job   string
		// second of the job's last start under fair, and under offers, which starts jobs at once if there are enough
		// devices for all
		fair, offers int64
	}{
		"drains end": {cluster.Study{VCs: oneCluster(2), Failures: outages(failures.Schedule{Sudden: both}),
			Jobs: []trace.Job{{ID: "r1", GPUs: 8, Duration: 200_000}, {ID: "r2", GPUs: 8, Duration: 200_000},
				{ID: "f", Submit: 2000, GPUs: 8, Duration: 100}}}, "f", 3060, 3300},
		"another node works": {cluster.Study{VCs: oneCluster(2), Types: types, Failures: outages(failures.Schedule{
			Listed: []failures.Outage{{Node: 0, To: 500}, {Node: 1, From: 500, To: 200_000}}}),
			Jobs: []trace.Job{{ID: "f", Submit: 10, GPUs: 8, Duration: 1000, GPUType: "x", NeedsType: true},
				{ID: "r", Submit: 100_000, GPUs: 1, Duration: 10}}}, "f", 540, 501},
		"a preempted job has fewer devices": {cluster.Study{VCs: oneCluster(2),
			Jobs: []trace.Job{{ID: "f1", GPUs: 4, Duration: 100_000}, {ID: "r", GPUs: 8, Duration: 10_000},
				{ID: "f2", Submit: 600, GPUs: 5, Duration: 100_000}}}, "r", 600, 600},
		"a device of the type is left": {cluster.Study{VCs: oneCluster(2), Types: types,
			Jobs: []trace.Job{{ID: "r1", GPUs: 8, Duration: 10_000, GPUType: "x", NeedsType: true},
				{ID: "r2", GPUs: 1, Duration: 100_000, GPUType: "y", NeedsType: true},
				{ID: "f", Submit: 600, GPUs: 8, Duration: 100_000}}}, "r1", 0, 0},
		"processors are left": {cluster.Study{VCs: oneCluster(1), CPUs: 64,
			Jobs: []trace.Job{{ID: "r1", GPUs: 1, CPUs: 1, Duration: 5000},
				{ID: "r2", GPUs: 1, CPUs: 30, Duration: 50_000},
				{ID: "f", Submit: 60, GPUs: 1, CPUs: 40, Duration: 100}}}, "f", 50_040, 50_000},
	} {
		t.Run(name, func(t *testing.T) {
			c.study.Resizable = func(j *trace.Job) bool { return strings.HasPrefix(j.ID, "r") }
			for k := range c.study.Jobs {
				c.study.Jobs[k].VC = "a"
			}
			for scheduler, least := range map[string]int64{"fair": c.fair, "offers": c.offers} {
				policy, err := Named(scheduler)
				require.NoError(t, err)
				o, err := c.study.Run(t.Context(), policy, cluster.Options{Changes: true})
				require.NoError(t, err)
				last := int64(-1)
				for _, change := range o.Changes {
					if change.Job.Trace.ID == c.job && change.What == "start" {
						last = change.At
					}
				}
				require.Equal(t, least, last, scheduler)
			}
		})
	}
}

// The policies state which schedulers let jobs shrink.
func TestPoliciesThatShrink(t *testing.T) {
	for _, policy := range Kinds() {
		study := &cluster.Study{VCs: oneCluster(2), PerNode: 8}
		sched, err := policy.New(cluster.Setup{Pool: &cluster.PoolRun{Name: "a", Nodes: 2}, Study: study})
		require.NoError(t, err, policy.Name)
		_, shrinks := sched.(cluster.Shrinker)
		require.Equal(t, shrinks, policy.Shrinks, policy.Name)
	}
}
