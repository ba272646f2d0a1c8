package schedulers_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/failures"
	"graft/cluster/lucid"
	"graft/cluster/schedtest"
	"graft/cluster/schedulers"
	"graft/cluster/trace"
	"graft/internal/files"
)

// drawFailures draws outages of all nodes of a case. Many begin or end together.
func drawFailures(r *rand.Rand, c *schedtest.Case, span int64) *cluster.Failures {
	f := &cluster.Failures{Pools: map[string]failures.Schedule{}, Spares: r.IntN(3), Shrink: r.IntN(2) == 0,
		Preempt: r.IntN(2) == 0, Restart: []int64{0, 1, 30, span / 10}[r.IntN(4)],
		Checkpoint: []int64{0, 1, 7, span / 4}[r.IntN(4)]}
	for _, vc := range c.Study.VCs {
		s := failures.Schedule{Start: c.Study.Begin, Period: 4 * span}
		outage := func(span int64) failures.Outage {
			from := r.Int64N(span) / 5 * 5
			return failures.Outage{Node: r.IntN(vc.Nodes + f.Spares), From: from, To: from + r.Int64N(span/8+2),
				Class: "GPU"}
		}
		for range r.IntN(2 * (vc.Nodes + 1)) {
			s.Failures = append(s.Failures, outage(s.Period))
		}
		for range r.IntN(3) {
			s.Listed = append(s.Listed, outage(c.Study.Begin+2*span))
		}
		for range r.IntN(3) {
			s.Drains = append(s.Drains, outage(c.Study.Begin+2*span))
		}
		f.Pools[vc.Name] = s
	}
	return f
}

// drawSudden draws unannounced drains, which jobs can outlast.
func drawSudden(r *rand.Rand, c *schedtest.Case, span int64) {
	for _, vc := range c.Study.VCs {
		s := c.Study.Failures.Pools[vc.Name]
		for range r.IntN(4) {
			from := c.Study.Begin + r.Int64N(span)/5*5
			s.Sudden = append(s.Sudden, failures.Outage{Node: r.IntN(vc.Nodes), From: from,
				To: from + 1 + r.Int64N(span/8+2)})
		}
		c.Study.Failures.Pools[vc.Name] = s
	}
}

// fails reports, by definition, whether a node has failed when the scheduler acts in a second. Nodes change after the
// scheduler acts.
func fails(s failures.Schedule, node int, now int64) bool {
	within := func(list []failures.Outage, from, last int64) bool {
		return slices.ContainsFunc(list, func(o failures.Outage) bool {
			return o.Node == node && from+o.From < now && now <= from+min(o.To, last) && o.From < o.To
		})
	}
	this := s.Start + max(0, now-s.Start)/s.Period*s.Period // an outage may end with its period
	return within(s.Failures, this, s.Period) || this > s.Start && within(s.Failures, this-s.Period, s.Period) ||
		within(s.Listed, 0, failures.Never)
}

// guard wraps a scheduler. After each call it checks that jobs run only on nodes in service, and that no job starts
// that would overlap a drain.
type guard struct {
	inner    cluster.Scheduler
	plan     failures.Schedule
	running  map[*cluster.Job]bool
	arrived  map[*cluster.Job]bool
	problems *[]string
}

func (g *guard) wrong(format string, args ...any) {
	*g.problems = append(*g.problems, fmt.Sprintf(format, args...))
}

func (g *guard) Arrived(j *cluster.Job) {
	if g.arrived[j] || j.Running() || j.End != cluster.Never {
		g.wrong("job %s arrives twice, or runs before it arrives", j.Trace.ID)
	}
	g.arrived[j] = true
	g.inner.Arrived(j)
}

func (g *guard) Ended(j *cluster.Job) {
	if !g.arrived[j] || j.Running() || j.End == cluster.Never {
		g.wrong("job %s ends twice, or before it arrives", j.Trace.ID)
	}
	delete(g.arrived, j)
	delete(g.running, j)
	g.inner.Ended(j)
}

func (g *guard) Schedule(p *cluster.Pool) int64 {
	wake := g.inner.Schedule(p)
	if err := p.Check(); err != nil {
		g.wrong("second %d: %s", p.Now(), err)
	}
	for j := range g.running {
		if !j.Running() {
			delete(g.running, j)
		}
	}
	for j := range p.Running() {
		g.check(p, j)
		g.running[j] = true
	}
	return wake
}

func (g *guard) check(p *cluster.Pool, j *cluster.Job) {
	for _, s := range j.Nodes {
		if fails(g.plan, s.Node, p.Now()) {
			g.wrong("second %d: job %s runs on node %d, which has failed", p.Now(), j.Trace.ID, s.Node)
		}
		for _, d := range g.plan.Drains {
			starts := !g.running[j] && j.Partner() == nil
			if starts && d.Node == s.Node && p.Now() <= d.To && p.Now()+int64(p.Left(j)) > d.From &&
				d.From != p.Now() &&
				d.From < d.To && j.Rate() == 1 {
				g.wrong("second %d: job %s starts on node %d, which is drained from second %d", p.Now(), j.Trace.ID,
					s.Node, d.From)
			}
		}
	}
}

// Shrunk implements [cluster.Shrinker].
func (g *guard) Shrunk(p *cluster.Pool, j *cluster.Job) { g.inner.(cluster.Shrinker).Shrunk(p, j) }

// rigidGuard guards a scheduler that cannot shrink jobs.
type rigidGuard struct{ *guard }

// Shrunk hides the method of guard.
func (rigidGuard) Shrunk() {}

// guarded returns a policy whose schedulers are guarded, and the list of their problems.
func guarded(policy cluster.Policy, f *cluster.Failures) (cluster.Policy, *[]string) {
	inner, problems := policy.New, new([]string)
	policy.New = func(s cluster.Setup) (cluster.Scheduler, error) {
		sched, err := inner(s)
		g := &guard{inner: sched, plan: f.Pools[s.Pool.Name], running: map[*cluster.Job]bool{},
			arrived: map[*cluster.Job]bool{}, problems: problems}
		if _, can := sched.(cluster.Shrinker); !can {
			return rigidGuard{g}, err
		}
		return g, err
	}
	return policy, problems
}

// Under every scheduler and random failures, drains and spare nodes, jobs run only on nodes in service, all jobs end,
// and times and work add up.
func TestFailuresKeepInvariants(t *testing.T) {
	hits, shrunk, starved := 0, 0, 0
	for _, policy := range schedulers.Kinds() {
		t.Run(policy.Name, func(t *testing.T) {
			for k := range 150 {
				r := rand.New(rand.NewPCG(41, uint64(k)))
				span := []int64{60, 600, 3000, 20_000}[r.IntN(4)]
				c := schedtest.Draw(r, schedtest.Shape{Span: span, Jobs: 24, Parts: k%3 == 1, Types: k%5 == 2})
				c.Enlarge(2)
				c.Study.Failures = drawFailures(r, c, span)
				drawSudden(r, c, span)
				if c.Study.Types != nil {
					c.Study.Failures.Spares = 0
				}
				c.Options.Follow, c.Options.Changes, c.Options.Workers = nil, true, 1
				c.Options.Horizon = 1 << 50
				watched, problems := guarded(policy, c.Study.Failures)
				o, err := c.Study.Run(context.Background(), watched, c.Options)
				if err != nil && strings.Contains(err.Error(), "give all outages an end") {
					starved++
					continue // a job needs nodes that are never in service together, or not for long enough
				}
				require.NoError(t, err, "case %d\n%s", k, c)
				require.Empty(t, *problems, "case %d\n%s\n%+v", k, c, c.Study.Failures)
				requireSums(t, c, o)
				again, err := c.Study.Run(context.Background(), policy, c.Options)
				require.NoError(t, err)
				require.Equal(t, schedtest.Table(o), schedtest.Table(again), "case %d", k)
				for _, j := range o.Jobs {
					hits += j.Lost().Failures
					shrunk += j.Lost().Failures - j.Lost().Restarts
				}
			}
		})
	}
	require.Less(t, starved, 100, "hardly a case ends")
	require.Greater(t, hits, 1000, "the cases hardly have failures")
	require.Greater(t, shrunk, 20, "the cases hardly have jobs that shrink")
}

// requireSums checks that the times of each job add up to its completion, and its device-seconds to its work and
// losses. No failure may lose more than a checkpoint interval.
func requireSums(t *testing.T, c *schedtest.Case, o *cluster.Outcome) {
	t.Helper()
	f := c.Study.Failures
	ran, held, devices := map[*cluster.Job]int64{}, map[*cluster.Job]int64{}, map[*cluster.Job]int64{}
	since, unit := map[*cluster.Job]int64{}, map[*cluster.Job]bool{}
	all := 0.0
	for _, ch := range o.Changes {
		j := ch.Job
		if _, begun := unit[j]; !begun {
			unit[j] = true
		}
		if devices[j] > 0 {
			ran[j] += ch.At - since[j]
			held[j] += (ch.At - since[j]) * devices[j]
		}
		since[j], devices[j] = ch.At, int64(ch.GPUs)
		unit[j] = unit[j] && ch.Rate == 1 && ch.GPUs == j.Trace.GPUs && ch.What != "resize" && ch.What != "preempt" &&
			!ch.Shared
		if ch.What == "preempt" || ch.What == "fail" || ch.What == "end" {
			devices[j] = 0
		}
	}
	for _, j := range o.Jobs {
		if _, ran := unit[j]; !ran {
			continue // ended in Lucid's profiler
		}
		lost := j.Lost()
		require.NotEqual(t, cluster.Never, j.End, j.Trace.ID)
		require.LessOrEqual(t, lost.Restarts, lost.Failures)
		if f.Checkpoint > 0 {
			require.LessOrEqual(t, lost.Work, float64(int64(lost.Failures)*f.Checkpoint), j.Trace.ID)
		}
		delays := int64(lost.Restarts) * f.Restart
		require.Equal(t, j.End-j.Trace.Submit, j.Arrival-j.Trace.Submit+ran[j]+j.Queue-lucid.Of(j).ProfileQueue+delays,
			"times of job %s", j.Trace.ID)
		if unit[j] {
			require.Equal(t, float64(held[j]), (float64(j.Trace.Duration)+lost.Work)*float64(j.GPUs),
				"device-seconds of job %s", j.Trace.ID)
		}
		if j.Share() == 0 && j.Partner() == nil {
			all += float64(held[j])
		}
	}
	used := 0.0
	for _, p := range o.Pools {
		used += p.Used
		require.LessOrEqual(t, p.Used, p.All)
	}
	if !slices.ContainsFunc(o.Jobs, func(j *cluster.Job) bool { return j.Share() > 0 }) && o.Policy != "lucid" {
		require.InDelta(t, all, used, 0, "device-seconds of all jobs and of the pools")
	}
}

// Spare nodes replace failed nodes, and a repaired node becomes a spare node.
func TestSparesReplaceFailedNodes(t *testing.T) {
	study := cluster.Study{PerNode: 4, VCs: []trace.VC{{Name: "a", Nodes: 2}},
		Jobs: []trace.Job{{ID: "long", VC: "a", GPUs: 8, Duration: 1000}, {ID: "small", VC: "a", GPUs: 4, Submit: 1,
			Duration: 10}},
		Failures: &cluster.Failures{Spares: 1, Restart: 20, Checkpoint: 30, Pools: map[string]failures.Schedule{
			"a": {Listed: []failures.Outage{{Node: 1, From: 100, To: 150, Class: "Fan"}, {Node: 0, From: 400,
				To: 900}}}}}}
	fifo, err := schedulers.Named("fifo")
	require.NoError(t, err)
	o, err := study.Run(context.Background(), fifo, cluster.Options{})
	require.NoError(t, err)
	long, small := o.Jobs[0], o.Jobs[1]
	// The long job loses 100 mod 30 = 10 s at second 100 and waits 20 s. The small job runs on the spare node from 101
	// to 111. At second 120, the long job restarts on nodes 0 and 2, runs 280 s and loses 10 s. Node 1 replaces node 0.
	require.Equal(t, cluster.Losses{Failures: 2, Restarts: 2, Work: 20, Delay: 40}, long.Lost())
	require.EqualValues(t, 111, small.End)
	require.EqualValues(t, 1000+20+40, long.End)
	require.Zero(t, long.Queue)
	require.Equal(t, []cluster.NodeOutage{{Node: 1, From: 100, To: 150, Kind: "failure", Class: "Fan", Jobs: 1},
		{Node: 0, From: 400, To: 900, Kind: "failure", Jobs: 1}}, o.Pools[0].Outages)
	names := 0
	for _, s := range long.Nodes {
		names |= 1 << s.Node
		require.Equal(t, 4, bits.OnesCount64(s.GPUs))
	}
	require.Equal(t, 0b110, names)
	require.InDelta(t, 1-550.0/(3*1060), o.Outages().Availability, 1e-12)
}

// A node whose drain ends while its job still runs becomes a spare node, but starts no job until it replaces a node. An
// idle spare node is used first.
func TestSpareNodesWithRunningJobs(t *testing.T) {
	drain := failures.Outage{Node: 0, From: 100, To: 200}
	study := cluster.Study{PerNode: 4, VCs: []trace.VC{{Name: "a", Nodes: 2}},
		Jobs: []trace.Job{{ID: "half", VC: "a", GPUs: 2, Duration: 1000},
			{ID: "whole", VC: "a", GPUs: 4, Duration: 1000},
			{ID: "late", VC: "a", GPUs: 4, Submit: 310, Duration: 10},
			{ID: "small", VC: "a", GPUs: 2, Submit: 410, Duration: 10}}}
	for name, c := range map[string]struct {
		spares int
		fails  []failures.Outage
		nodes  map[string]int // last node of some jobs
	}{
		"no other spare node": {1, []failures.Outage{{Node: 1, From: 300, To: 2000}},
			map[string]int{"half": 0, "whole": 2, "small": 0}},
		"an idle spare node": {2, []failures.Outage{{Node: 1, From: 300, To: 2000}},
			map[string]int{"half": 0, "whole": 2, "late": 3, "small": 3}},
		"two failures": {2, []failures.Outage{{Node: 1, From: 300, To: 2000}, {Node: 3, From: 400, To: 2000}},
			map[string]int{"half": 0, "whole": 2, "late": 3, "small": 0}},
	} {
		study.Failures = &cluster.Failures{Spares: c.spares, Pools: map[string]failures.Schedule{
			"a": {Sudden: []failures.Outage{drain}, Listed: c.fails, Period: 5000}}}
		fifo, err := schedulers.Named("fifo")
		require.NoError(t, err)
		watched, problems := guarded(fifo, study.Failures)
		o, err := study.Run(context.Background(), watched, cluster.Options{})
		require.NoError(t, err, name)
		require.Empty(t, *problems, name)
		for _, j := range o.Jobs {
			if want, known := c.nodes[j.Trace.ID]; known {
				require.Equal(t, want, j.Nodes[0].Node, "%s: job %s", name, j.Trace.ID)
			}
		}
	}
}

// A replay of the published trace on equally many nodes gives, to the second, the availability, outages and faults by
// class that the test computes from the trace alone.
func TestReplayReproducesThePublishedTrace(t *testing.T) {
	path := filepath.FromSlash("../../../shared/reference/faults/fault_trace.json")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		t.Skipf("left out: there is no %s", path)
	}
	options := failures.Options{File: path, FileNodes: 400}
	source, err := options.Read(files.OS{})
	require.NoError(t, err)
	const period, begin = 349 * 86_400, 1000
	study := cluster.Study{Begin: begin, VCs: []trace.VC{{Name: "a", Nodes: 150}, {Name: "b", Nodes: 250}},
		Jobs: []trace.Job{{ID: "a", VC: "a", GPUs: 1, Submit: begin + period}, {ID: "b", VC: "b", GPUs: 1,
			Submit: begin + period}}}
	plans, err := source.Schedules(study.VCs, begin, 7)
	require.NoError(t, err)
	study.Failures = &cluster.Failures{Pools: plans}
	fifo, err := schedulers.Named("fifo")
	require.NoError(t, err)
	o, err := study.Run(context.Background(), fifo, cluster.Options{})
	require.NoError(t, err)

	// For each node of the trace, the test keeps a counter of open faults.
	type span struct {
		from, to int64
		class    string
	}
	var want, got []span
	var down int64
	for _, n := range source.Trace.Nodes {
		open := map[int64]int{}
		class := map[int64]string{}
		for k := len(n.Faults) - 1; k >= 0; k-- {
			open[n.Faults[k].From]++
			open[n.Faults[k].To]--
			class[n.Faults[k].From] = n.Faults[k].Class
		}
		for _, f := range n.Faults { // faults without a duration
			if f.From == f.To && open[f.From] == 0 {
				inside := slices.ContainsFunc(n.Faults, func(g failures.Fault) bool {
					return g != f && g.From <= f.From && f.From <= g.To
				})
				if !inside {
					want = append(want, span{f.From, f.To, f.Class})
				}
			}
		}
		count, since := 0, int64(0)
		for _, at := range slices.Sorted(maps.Keys(open)) {
			was := count
			if count += open[at]; was == 0 && count > 0 {
				since = at
			} else if was > 0 && count == 0 {
				want = append(want, span{since, at, class[since]})
				down += at - since
			}
		}
	}
	for _, p := range o.Pools {
		require.EqualValues(t, begin+period, p.Last)
		for _, n := range p.Outages {
			if n.From < begin+period {
				got = append(got, span{n.From - begin, n.To - begin, n.Class})
			}
		}
	}
	order := func(a, b span) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.class, b.class))
	}
	slices.SortFunc(want, order)
	slices.SortFunc(got, order)
	require.Equal(t, want, got)
	require.InDelta(t, float64(400*period-down), o.Outages().Availability*400*period, 0.5, "node seconds")
}

// A replay of the table of a simulation's outages gives the same simulation.
func TestOutagesReplayTheSimulation(t *testing.T) {
	for k := range 30 {
		r := rand.New(rand.NewPCG(43, uint64(k)))
		c := schedtest.Draw(r, schedtest.Shape{Span: 3000, Jobs: 24})
		c.Study.Begin = 0
		c.Enlarge(2)
		c.Study.Failures = drawFailures(r, c, 3000)
		c.Study.Failures.Spares = 0
		srtf, err := schedulers.Named("srtf")
		require.NoError(t, err)
		first, err := c.Study.Run(context.Background(), srtf, c.Options)
		if err != nil && strings.Contains(err.Error(), "give all outages an end") {
			continue
		}
		require.NoError(t, err)
		var table, again bytes.Buffer
		require.NoError(t, first.WriteOutages(&table))
		path := filepath.Join(t.TempDir(), "outages.csv")
		require.NoError(t, os.WriteFile(path, table.Bytes(), 0o600))
		source, err := (&failures.Options{File: path}).Read(files.OS{})
		require.NoError(t, err)
		replay := *c.Study.Failures
		replay.Pools, err = source.Schedules(c.Study.VCs, 0, 0)
		require.NoError(t, err)
		for name, p := range replay.Pools { // a drain is known before it begins, even if it begins after the end
			p.Drains = c.Study.Failures.Pools[name].Drains
			replay.Pools[name] = p
		}
		c.Study.Failures = &replay
		second, err := c.Study.Run(context.Background(), srtf, c.Options)
		require.NoError(t, err)
		require.NoError(t, second.WriteOutages(&again))
		require.Equal(t, schedtest.Table(first), schedtest.Table(second), "case %d", k)
		require.Equal(t, table.String(), again.String(), "case %d", k)
	}
}

// A job that never ends, and a job whose nodes never return, end the simulation with an error.
func TestEndlessFailuresAreErrors(t *testing.T) {
	fifo, err := schedulers.Named("fifo")
	require.NoError(t, err)
	study := cluster.Study{VCs: []trace.VC{{Name: "a", Nodes: 1}}, Jobs: []trace.Job{{ID: "j", VC: "a", GPUs: 1,
		Duration: 100}}}
	for want, s := range map[string]failures.Schedule{
		"failures hit job j 10000 times, and its work left is": {Failures: []failures.Outage{{From: 50, To: 51}},
			Period: 60},
		"1 job is waiting and will never find enough nodes in service at the same " +
			"time": {Listed: []failures.Outage{{From: 3,
			To: failures.Never}}},
	} {
		study.Failures = &cluster.Failures{Pools: map[string]failures.Schedule{"a": s}}
		_, err := study.Run(context.Background(), fifo, cluster.Options{})
		require.ErrorContains(t, err, want)
	}
}
