package schedulers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/failures"
	"graft/cluster/schedtest"
)

// checking wraps a scheduler and checks the pool after each call.
type checking struct {
	cluster.Scheduler
	fault *error
}

func (s *checking) Schedule(p *cluster.Pool) int64 {
	wake := s.Scheduler.Schedule(p)
	if err := p.Check(); err != nil && *s.fault == nil {
		*s.fault = fmt.Errorf("second %d: %w", p.Now(), err)
	}
	return wake
}

func checked(policy cluster.Policy, fault *error) cluster.Policy {
	inner := policy.New
	policy.New = func(s cluster.Setup) (cluster.Scheduler, error) {
		sched, err := inner(s)
		return &checking{sched, fault}, err
	}
	return policy
}

// withSpot draws a case with some spot jobs.
func withSpot(k uint64) (*rand.Rand, *schedtest.Case) {
	r := rand.New(rand.NewPCG(k, 13))
	c := schedtest.Draw(r, schedtest.Shape{Span: []int64{60, 600, 4000}[r.IntN(3)], Jobs: 40, Types: k%3 == 0,
		Parts: k%4 == 1, Scales: k%5 == 2, Quirks: allQuirks})
	c.Enlarge(2)
	for at := range c.Study.Jobs {
		c.Study.Jobs[at].Spot = r.IntN(2) == 0
		c.Study.Jobs[at].CPUs = r.IntN(6)
	}
	if k%6 == 3 {
		c.Study.CPUs = 5 * c.Study.PerNode
	}
	if k%7 == 4 {
		c.Study.Failures = &cluster.Failures{Pools: map[string]failures.Schedule{}, Restart: r.Int64N(20)}
		for _, vc := range c.Study.VCs {
			var some []failures.Outage
			for range r.IntN(6) {
				from := c.Study.Begin + r.Int64N(600)
				some = append(some, failures.Outage{Node: r.IntN(vc.Nodes), From: from, To: from + 100})
			}
			c.Study.Failures.Pools[vc.Name] = failures.Schedule{Period: 1, Listed: some[len(some)/2:],
				Drains: some[:len(some)/2]}
		}
		if c.Study.Types == nil {
			drawSpares(r, c)
		}
	}
	c.Study.Spot = &cluster.Spot{Notice: []int64{0, 0, 1, 30, 300}[r.IntN(5)], Save: []int64{0, 30, 60}[r.IntN(3)],
		Checkpoint: []int64{0, 1, 20}[r.IntN(3)]}
	c.Options.Changes, c.Options.Follow, c.Options.Workers, c.Options.Series = true, nil, 1, true
	return r, c
}

// drawSpares adds spare nodes, and unannounced drains, which jobs can outlast.
func drawSpares(r *rand.Rand, c *schedtest.Case) {
	c.Study.Failures.Spares = r.IntN(3)
	for _, vc := range c.Study.VCs {
		s := c.Study.Failures.Pools[vc.Name]
		for range r.IntN(4) {
			from := c.Study.Begin + r.Int64N(300)
			s.Sudden = append(s.Sudden, failures.Outage{Node: r.IntN(vc.Nodes), From: from,
				To: from + 1 + r.Int64N(60)})
		}
		c.Study.Failures.Pools[vc.Name] = s
	}
}

// timesOf lists the times of all jobs except spot jobs.
func timesOf(o *cluster.Outcome) (list []string) {
	for _, j := range o.Jobs {
		if !j.Trace.Spot {
			list = append(list, fmt.Sprint(j.Trace.ID, j.Start, j.End, j.Queue, j.Preemptions, o.TypeOf(j)))
		}
	}
	return list
}

// Spot jobs that are evicted without a notice do not change the times of other jobs. In any case, jobs share no
// devices, evicted jobs wait again and end, and no more work is lost than the options allow.
func TestSpotJobsDoNotDelayOthers(t *testing.T) {
	for _, kind := range kindNames() {
		t.Run(kind, func(t *testing.T) {
			evictions, lost, compared, stuck := 0, 0.0, 0, 0
			for k := range uint64(150) {
				_, c := withSpot(k)
				var fault error
				o, err := c.Study.Run(context.Background(), checked(policyOf(kind, c), &fault), c.Options)
				if err != nil && strings.Contains(err.Error(), "no jobs are running and no more jobs will arrive") {
					stuck++ // a job needs nodes that were removed
					continue
				}
				require.NoError(t, err, "case %d\n%s", k, c)
				require.NoError(t, fault, "case %d\n%s", k, c)
				for _, j := range o.Jobs {
					require.NotEqual(t, cluster.Never, j.End, "case %d: %s", k, j.Trace.ID)
					require.GreaterOrEqual(t, j.Queue, int64(0), "case %d: %s", k, j.Trace.ID)
					require.LessOrEqual(t, j.Start, j.End, "case %d: %s", k, j.Trace.ID)
					l := j.Lost()
					require.True(t, j.Trace.Spot || l.Evictions == 0)
					if c.Study.Spot.Notice >= c.Study.Spot.Save {
						require.Zero(t, l.Evicted)
					} else if every := c.Study.Spot.Checkpoint; every > 0 {
						require.LessOrEqual(t, l.Evicted, float64(int64(l.Evictions)*every))
					}
					evictions, lost = evictions+l.Evictions, lost+l.Evicted
				}
				for _, p := range o.Pools {
					require.LessOrEqual(t, p.Used, p.All)
				}
				if c.Study.Spot.Notice > 0 || kind == "lucid" { // spot jobs delay others in Lucid's profiler
					continue
				}
				compared++
				alone := copied(c)
				alone.Study.Jobs, alone.Study.Estimates, alone.Study.Spot = nil, []float64{}, nil
				for at, j := range c.Study.Jobs {
					if !j.Spot {
						alone.Study.Jobs = append(alone.Study.Jobs, j)
						alone.Study.Estimates = append(alone.Study.Estimates, c.Study.Estimates[at])
					}
				}
				require.Equal(t, timesOf(ran(t, kind, alone)), timesOf(o), "case %d\n%s", k, c)
			}
			require.Less(t, stuck, 20)
			require.Greater(t, evictions, 50)
			require.Greater(t, lost, 0.0)
			require.True(t, compared > 30 || kind == "lucid")
		})
	}
}

// A notice delays a job by at most its length. A spot job holds devices for its work and the work that it repeats.
func TestNoticesOfSpotJobs(t *testing.T) {
	delayed := 0
	for _, kind := range []string{"fifo", "sjf", "backfill", "qssf"} {
		for k := range uint64(300) {
			_, c := withSpot(k)
			c.Study.Types = nil
			for at := range c.Study.Jobs {
				c.Study.Jobs[at].GPUType = ""
			}
			c.Options.Quirks, c.Scalings, c.Study.Failures = nil, nil, nil
			o := ran(t, kind, c)
			since, had := map[*cluster.Job]int64{}, map[*cluster.Job]int64{}
			for _, ch := range o.Changes {
				switch ch.What {
				case "start":
					since[ch.Job] = ch.At
				case "end", "evict":
					had[ch.Job] += ch.At - since[ch.Job]
				}
			}
			for _, j := range o.Jobs {
				more := had[j] - j.Trace.Duration
				if j.Trace.Spot {
					require.EqualValues(t, j.Lost().Evicted, more, "%s: %s\n%s", kind, j.Trace.ID, c)
					continue
				}
				require.GreaterOrEqual(t, more, int64(0))
				require.LessOrEqual(t, more, c.Study.Spot.Notice, "%s: %s\n%s", kind, j.Trace.ID, c)
				require.Equal(t, j.End-j.Trace.Submit, j.Queue+j.Trace.Duration, "%s: %s\n%s", kind, j.Trace.ID, c)
				delayed += int(min(more, 1))
			}
		}
	}
	require.Greater(t, delayed, 100)
}

// An evicted job runs until its notice ends and repeats the work since its checkpoint. The other job starts then.
func TestEviction(t *testing.T) {
	for _, c := range []struct {
		spot         cluster.Spot
		evicted      float64
		start, again int64
	}{
		{cluster.Spot{}, 0, 100, 150},
		{cluster.Spot{Save: 1}, 100, 100, 150},
		{cluster.Spot{Save: 1, Checkpoint: 30}, 10, 100, 150},
		{cluster.Spot{Notice: 20, Save: 20}, 0, 120, 170},
		{cluster.Spot{Notice: 20, Save: 60, Checkpoint: 50}, 20, 120, 170},
		{cluster.Spot{Notice: 500, Save: 60}, 0, 400, 400},
	} {
		made, err := schedtest.Parse("each 4\nvc a 1\njob cheap vc a at 0 for 400 on 3\n" +
			"job dear vc a at 100 for 50 on 2\n")
		require.NoError(t, err)
		made.Study.Jobs[0].Spot, made.Study.Spot = true, &c.spot
		made.Options.Changes = true
		o := ran(t, "fifo", made)
		cheap, dear := o.Jobs[0], o.Jobs[1]
		require.Equal(t, []int64{c.start, c.start + 50, c.start - 100}, []int64{dear.Start, dear.End, dear.Queue})
		require.Equal(t, c.evicted, cheap.Lost().Evicted)
		worked := 400 + int64(c.evicted)
		if c.again == 400 {
			require.Zero(t, cheap.Lost().Evictions)
			require.EqualValues(t, 400, cheap.End)
			continue
		}
		require.Equal(t, 1, cheap.Lost().Evictions)
		require.Equal(t, worked+50, cheap.End, "%+v", c)
	}
}
