package schedulers_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/failures"
	"graft/cluster/schedtest"
	"graft/cluster/schedulers"
	"graft/cluster/trace"
)

// even lets a half of the jobs be resized.
func even(j *trace.Job) bool { return len(j.ID) > 0 && j.ID[len(j.ID)-1]%2 == 0 }

// Jobs that cannot be resized run only on their requested devices, under every scheduler and with failures. Without
// such jobs, the function makes no difference.
func TestFixedJobsKeepTheirDevices(t *testing.T) {
	resized, fixed := 0, 0
	for _, policy := range schedulers.Kinds() {
		for k := range 60 {
			r := rand.New(rand.NewPCG(43, uint64(k)))
			c := schedtest.Draw(r, schedtest.Shape{Span: []int64{60, 3000, 20_000}[k%3], Jobs: 24, Parts: k%4 == 1,
				Types: k%5 == 2})
			c.Enlarge(2)
			if k%2 == 1 && c.Study.Types == nil {
				c.Study.Failures = &cluster.Failures{Shrink: true, Checkpoint: 10, Pools: map[string]failures.Schedule{
					"a": {Listed: []failures.Outage{{Node: 0, From: c.Study.Begin + 500, To: c.Study.Begin + 900}}}}}
			}
			c.Options.Follow, c.Options.Changes, c.Options.Workers = nil, true, 1
			plain, err := c.Study.Run(t.Context(), policy, c.Options)
			require.NoError(t, err)
			c.Study.Resizable = func(*trace.Job) bool { return true }
			all, err := c.Study.Run(t.Context(), policy, c.Options)
			require.NoError(t, err)
			require.Equal(t, schedtest.Table(plain), schedtest.Table(all))

			c.Study.Resizable = even
			o, err := c.Study.Run(t.Context(), policy, c.Options)
			require.NoError(t, err, "%s, case %d\n%s", policy.Name, k, c)
			for _, change := range o.Changes {
				switch {
				case change.What == "resize" || change.GPUs != 0 && change.GPUs != change.Job.Trace.GPUs:
					require.True(t, change.Job.Resizable(), "%s, case %d: job %s", policy.Name, k, change.Job.Trace.ID)
					resized++
				case !change.Job.Resizable():
					fixed++
				}
			}
			for _, j := range o.Jobs {
				require.NotEqual(t, cluster.Never, j.End, "%s, case %d: job %s", policy.Name, k, j.Trace.ID)
			}
		}
	}
	require.Greater(t, resized, 500)
	require.Greater(t, fixed, 5000)
}

// Under fair and offers, a job that cannot be resized does not wait for longer than between two divisions while its
// devices are left by one device for each running job that can be resized. Nodes have one device each, so every set of
// free devices is a placement.
func TestFixedJobsStart(t *testing.T) {
	waited := 0
	for name, every := range map[string]int64{"fair": 60, "offers": 300} {
		policy, err := schedulers.Named(name)
		require.NoError(t, err)
		for k := range 60 {
			r := rand.New(rand.NewPCG(47, uint64(k)))
			nodes := 4 + r.IntN(12)
			study := cluster.Study{VCs: []trace.VC{{Name: "a", Nodes: nodes}}, PerNode: 1, Resizable: even}
			at := int64(0)
			for j := range 60 {
				at += r.Int64N(3000)
				study.Jobs = append(study.Jobs, trace.Job{ID: fmt.Sprint(j), VC: "a", Submit: at,
					GPUs: 1 + r.IntN(nodes), Duration: 1 + r.Int64N(20_000)})
			}
			o, err := study.Run(t.Context(), policy, cluster.Options{Changes: true, Placement: "random"})
			require.NoError(t, err)
			waited += requireStarts(t, o, nodes, 2*every, fmt.Sprintf("%s, case %d", name, k))
		}
	}
	require.Greater(t, waited, 1000, "the cases hardly have jobs that wait")
}

// requireStarts checks that no fixed job waits for a number of seconds although it could start. It returns the number
// of waits.
func requireStarts(t *testing.T, o *cluster.Outcome, gpus int, most int64, in string) (waits int) {
	t.Helper()
	running, since := map[*cluster.Job]bool{}, map[*cluster.Job]int64{}
	for k, change := range o.Changes {
		running[change.Job] = change.What != "end"
		if k+1 < len(o.Changes) && o.Changes[k+1].At == change.At {
			continue
		}
		free, until := gpus, int64(0)
		for j, runs := range running {
			switch {
			case runs && j.Resizable():
				free--
			case runs:
				free -= j.Trace.GPUs
			}
		}
		if k+1 < len(o.Changes) {
			until = o.Changes[k+1].At
		}
		for _, j := range o.Jobs {
			if j.Resizable() || j.Start < until || j.Trace.Submit >= until || j.Trace.GPUs > free {
				delete(since, j)
				continue
			}
			if since[j] == 0 {
				since[j] = max(change.At, j.Trace.Submit)
			}
			waits++
			require.LessOrEqual(t, until-since[j], most, "%s: job %s could start at %d", in, j.Trace.ID, since[j])
		}
	}
	return waits
}

// Two of three jobs of equal sizes fit. The one that can be resized shrinks for a fixed job, which does not shrink, and
// a failure stops the fixed job, which waits for two nodes.
func TestFixedJobsAmongOthers(t *testing.T) {
	fair, err := schedulers.Named("fair")
	require.NoError(t, err)
	study := cluster.Study{VCs: []trace.VC{{Name: "a", Nodes: 2}}, PerNode: 4,
		Resizable: func(j *trace.Job) bool { return strings.HasPrefix(j.ID, "r") },
		Jobs: []trace.Job{{ID: "r1", VC: "a", GPUs: 8, Duration: 600},
			{ID: "f1", VC: "a", Submit: 30, GPUs: 4, Duration: 600},
			{ID: "f2", VC: "a", Submit: 40, GPUs: 4, Duration: 60}}}
	times := func() (text string) {
		o, err := study.Run(t.Context(), fair, cluster.Options{Changes: true})
		require.NoError(t, err)
		for _, c := range o.Changes {
			text += fmt.Sprintf("%d %s %s %d; ", c.At, c.Job.Trace.ID, c.What, c.GPUs)
		}
		return text
	}
	require.Equal(t, "0 r1 start 8; 60 r1 resize 4; 60 f1 start 4; 660 f1 end 4; 660 f2 start 4; 720 f2 end 4; "+
		"720 r1 resize 8; 1010 r1 end 8; ", times(), "r1 repeats work after each resize")

	study.Jobs = []trace.Job{{ID: "f1", VC: "a", GPUs: 8, Duration: 600}}
	study.Failures = &cluster.Failures{Shrink: true, Pools: map[string]failures.Schedule{
		"a": {Listed: []failures.Outage{{Node: 1, From: 120, To: 300}}}}}
	require.Equal(t, "0 f1 start 8; 120 f1 fail 8; 360 f1 start 8; 960 f1 end 8; ", times())
	study.Jobs[0].ID = "r1"
	require.Contains(t, times(), "0 r1 start 8; 120 r1 resize 4; ")
}
