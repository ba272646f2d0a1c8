package schedulers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/lucid"
	"graft/cluster/schedtest"
	"graft/cluster/trace"
)

// This file checks relations between two simulations whose results are unknown.

// kindNames lists all schedulers.
func kindNames() []string { return Kinds().Names() }

// changed draws random cases and calls a test with each case and a changed copy.
func changed(t *testing.T, kinds []string, cases int, shape schedtest.Shape,
	try func(t *testing.T, r *rand.Rand, kind string, c, other *schedtest.Case)) {
	t.Helper()
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			for k := range cases {
				r := rand.New(rand.NewPCG(uint64(k), 99))
				shape.Quirks = allQuirks
				c := schedtest.Draw(r, shape)
				c.Enlarge(2) // so that all jobs can run
				try(t, r, kind, c, copied(c))
			}
		})
	}
}

func copied(c *schedtest.Case) *schedtest.Case {
	other := *c
	other.Study.Jobs = slices.Clone(c.Study.Jobs)
	other.Study.VCs = slices.Clone(c.Study.VCs)
	other.Study.Estimates = slices.Clone(c.Study.Estimates)
	if f := c.Study.Forecast; f != nil {
		other.Study.Forecast = &cluster.Forecast{At: slices.Clone(f.At), Jobs: f.Jobs, GPUs: f.GPUs}
	}
	return &other
}

func ran(t *testing.T, kind string, c *schedtest.Case) *cluster.Outcome {
	t.Helper()
	o, err := c.Study.Run(context.Background(), policyOf(kind, c), c.Options)
	require.NoError(t, err, "%s\n%s", kind, c)
	return o
}

// scaled multiplies all times of a case.
func scaled(c *schedtest.Case, times int64) {
	c.Study.Begin *= times
	for k := range c.Study.Jobs {
		c.Study.Jobs[k].Submit *= times
		c.Study.Jobs[k].Duration *= times
		c.Study.Estimates[k] *= float64(times)
	}
}

// If all times double, all completion times double. This excludes schedulers with constants in seconds: Tiresias and
// Lucid have rounds, profiles and thresholds, and two quirks last a second. Preemptions under SRTF cost a constant
// number of seconds, so only cases without preemptions count.
func TestTwiceAsLong(t *testing.T) {
	preempted := 0
	changed(t, []string{"fifo", "sjf", "srtf", "qssf"}, 200, schedtest.Shape{Span: 300, Jobs: 20},
		func(t *testing.T, r *rand.Rand, kind string, c, other *schedtest.Case) {
			c.Options.Quirks = slices.DeleteFunc(c.Options.Quirks,
				func(name string) bool { return name == "extra-second" || name == "size-first" })
			other.Options = c.Options
			times := 2 + r.Int64N(5)
			scaled(other, times)
			short, long := ran(t, kind, c), ran(t, kind, other)
			if slices.ContainsFunc(slices.Concat(short.Jobs, long.Jobs),
				func(j *cluster.Job) bool { return j.Preemptions > 0 }) {
				preempted++
				return
			}
			for k, j := range short.Jobs {
				require.Equal(t, []int64{times * j.Start, times * j.End, times * j.Queue},
					[]int64{long.Jobs[k].Start, long.Jobs[k].End, long.Jobs[k].Queue}, "job %s, %d times as long\n%s",
					j.Trace.ID, times, c)
				require.Equal(t, j.Nodes, long.Jobs[k].Nodes)
			}
		})
	require.Less(t, preempted, 150)
}

// If all times are hours later, all results are hours later. The delay is a multiple of 100 s and of a minute, because
// some rounds begin at such times.
func TestLater(t *testing.T) {
	changed(t, kindNames(), 100, schedtest.Shape{Span: 600, Jobs: 30},
		func(t *testing.T, r *rand.Rand, kind string, c, other *schedtest.Case) {
			by := 300 * (1 + r.Int64N(1000))
			other.Study.Begin += by
			for k := range other.Study.Jobs {
				other.Study.Jobs[k].Submit += by
			}
			if f := other.Study.Forecast; f != nil {
				for k := range f.At {
					f.At[k] += by
				}
			}
			early, late := ran(t, kind, c), ran(t, kind, other)
			for k, j := range early.Jobs {
				l := late.Jobs[k]
				require.Equal(t, []int64{j.Start + by, j.End + by, j.Queue}, []int64{l.Start, l.End, l.Queue},
					"job %s, later by %d\n%s", j.Trace.ID, by, c)
				require.Equal(t, []any{j.Nodes, j.Preemptions, lucid.Of(j).Shared, lucid.Of(j).Packed, lucid.Rate(j)},
					[]any{l.Nodes, l.Preemptions, lucid.Of(l).Shared, lucid.Of(l).Packed, lucid.Rate(l)})
			}
		})
}

// Exchanging jobs that differ only in their names keeps the sums of completion and waiting times.
func TestEqualJobs(t *testing.T) {
	changed(t, kindNames(), 60, schedtest.Shape{Span: 300, Jobs: 24},
		func(t *testing.T, r *rand.Rand, kind string, c, other *schedtest.Case) {
			same := &trace.Training{Model: "m1", Memory: 1000}
			for k := range c.Study.Jobs {
				j := &c.Study.Jobs[k]
				j.Submit, j.Duration, j.GPUs, j.Training = j.Submit/50*50, 60*(j.Duration%3), 1+j.GPUs%2, same
				c.Study.Estimates[k] = float64(j.Duration)
			}
			c.Study.Begin, other.Study.Begin = 0, 0
			copy(other.Study.Jobs, c.Study.Jobs)
			copy(other.Study.Estimates, c.Study.Estimates)
			shuffleEqual(r, other.Study.Jobs)
			first, second := ran(t, kind, c), ran(t, kind, other)
			sums := func(o *cluster.Outcome) (completion, queue int64) {
				for _, j := range o.Jobs {
					completion, queue = completion+j.Completion(), queue+j.Queue
				}
				return completion, queue
			}
			a, b := sums(first)
			x, y := sums(second)
			require.Equal(t, []int64{a, b}, []int64{x, y}, "%s", c)
		})
}

// shuffleEqual swaps the names of jobs that are otherwise equal.
func shuffleEqual(r *rand.Rand, jobs []trace.Job) {
	for range 3 * len(jobs) {
		a, b := r.IntN(len(jobs)), r.IntN(len(jobs))
		x, y := jobs[a], jobs[b]
		x.ID, y.ID = "", ""
		if x == y {
			jobs[a], jobs[b] = jobs[b], jobs[a]
		}
	}
}

// Under fifo, an additional node never makes a job wait longer if each job needs one device.
func TestAnotherNode(t *testing.T) {
	changed(t, []string{"fifo"}, 300, schedtest.Shape{Span: 200, Jobs: 60},
		func(t *testing.T, r *rand.Rand, kind string, c, other *schedtest.Case) {
			for k := range c.Study.Jobs {
				c.Study.Jobs[k].GPUs, other.Study.Jobs[k].GPUs = 1, 1
			}
			other.Study.VCs[r.IntN(len(other.Study.VCs))].Nodes++
			less, more := ran(t, kind, c), ran(t, kind, other)
			for k, j := range less.Jobs {
				require.LessOrEqual(t, more.Jobs[k].End, j.End, "job %s\n%s", j.Trace.ID, c)
			}
		})
}

// Virtual clusters share only a profiler, so each has the same results in a simulation of its own.
func TestApart(t *testing.T) {
	kinds := slices.DeleteFunc(kindNames(), func(kind string) bool { return kind == "lucid" })
	changed(t, kinds, 60, schedtest.Shape{Span: 300, Jobs: 30},
		func(t *testing.T, _ *rand.Rand, kind string, c, other *schedtest.Case) {
			rows := map[string]string{}
			for _, j := range ran(t, kind, c).Jobs {
				rows[j.Trace.ID] = rowOf(j)
			}
			vc := c.Study.VCs[0].Name
			other.Study.VCs = other.Study.VCs[:1]
			other.Study.Estimates = nil
			for k, j := range c.Study.Jobs {
				if j.VC == vc {
					other.Study.Estimates = append(other.Study.Estimates, c.Study.Estimates[k])
				}
			}
			other.Study.Jobs = slices.DeleteFunc(other.Study.Jobs, func(j trace.Job) bool { return j.VC != vc })
			for _, j := range ran(t, kind, other).Jobs {
				require.Equal(t, rows[j.Trace.ID], rowOf(j), "job %s\n%s", j.Trace.ID, c)
			}
		})
}

// The outcome depends neither on the number of pools simulated in parallel nor on concurrent simulations of the same
// study.
func TestAtTheSameTime(t *testing.T) {
	changed(t, kindNames(), 12, schedtest.Shape{Span: 300, Jobs: 40},
		func(t *testing.T, _ *rand.Rand, kind string, c, _ *schedtest.Case) {
			tables := make([]string, 6)
			var wait sync.WaitGroup
			for k := range tables {
				wait.Go(func() {
					o := c.Options
					o.Workers, o.Series = k, k%2 == 0
					got, err := c.Study.Run(context.Background(), policyOf(kind, c), o)
					if err != nil {
						tables[k] = fmt.Sprint(k, err)
						return
					}
					tables[k] = allOf(got)
				})
			}
			wait.Wait()
			for _, table := range tables {
				require.Equal(t, tables[0], table, "%s", c)
			}
		})
}

func allOf(o *cluster.Outcome) string {
	w := &strings.Builder{}
	fmt.Fprintln(w, schedtest.Table(o), o.Refused, o.Counts, o.Events, o.Asked)
	for _, j := range o.Jobs {
		fmt.Fprintln(w, rowOf(j))
	}
	for _, c := range o.Changes {
		fmt.Fprintln(w, c.At, c.Job.Trace.ID, c.What, c.GPUs, c.Rate)
	}
	for _, p := range o.Pools {
		fmt.Fprintln(w, p.Name, p.Nodes, p.Last, p.Used, p.All, p.Events, p.Asked)
	}
	return w.String()
}
