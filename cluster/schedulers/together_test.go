package schedulers_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/schedtest"
	"graft/cluster/schedulers"
	"graft/cluster/trace"
)

// drawEverything draws a case with any combination of failures, drains, spare nodes, spot jobs, types of nodes, parts
// of devices, processors, time limits and jobs that cannot be resized.
func drawEverything(r *rand.Rand) *schedtest.Case {
	span := []int64{60, 600, 3000}[r.IntN(3)]
	often := func() bool { return r.IntN(2) == 0 }
	c := schedtest.Draw(r, schedtest.Shape{Span: span, Jobs: 30, Parts: often(), Types: often(), Limits: often(),
		Faulty: often()})
	c.Enlarge(2)
	s := &c.Study
	if often() {
		s.Failures = drawFailures(r, c, span)
		drawSudden(r, c, span)
		if s.Types != nil {
			s.Failures.Spares = 0
		}
	}
	if often() {
		s.Spot = &cluster.Spot{Notice: []int64{0, 0, 1, 30, 300}[r.IntN(5)], Save: []int64{0, 30}[r.IntN(2)],
			Checkpoint: []int64{0, 1, 20}[r.IntN(3)]}
	}
	if often() {
		s.CPUs = 5 * s.PerNode
		for k := range s.Types {
			s.Types[k].CPUs = r.IntN(2) * (4 + r.IntN(4)) * s.PerNode
		}
	}
	if often() {
		s.Resizable = func(j *trace.Job) bool { return j.Draws(7).IntN(2) == 0 }
	}
	s.Limits, s.WholeGPUs = often(), r.IntN(4) == 0
	for k := range s.Jobs {
		s.Jobs[k].Spot, s.Jobs[k].CPUs = often(), r.IntN(6)
	}
	c.Options.Changes, c.Options.Follow, c.Options.Workers, c.Options.Series = true, nil, 1, true
	return c
}

// In every combination of options, jobs end after their submission, their times add up to their completion, and no more
// devices are in use than in service.
func TestEverythingTogether(t *testing.T) {
	for _, policy := range schedulers.Kinds() {
		t.Run(policy.Name, func(t *testing.T) {
			for k := range uint64(12) {
				r := rand.New(rand.NewPCG(k, 2026))
				c := drawEverything(r)
				if policy.Name == "lucid" {
					c.Study.Limits = false
				}
				about := func() string {
					return fmt.Sprintf("case %d\n%s\n%+v %+v cpus %d limits %v", k, c, c.Study.Failures, c.Study.Spot,
						c.Study.CPUs, c.Study.Limits)
				}
				o, err := c.Study.Run(context.Background(), policy, c.Options)
				require.NoError(t, err, about())
				had := schedtest.Held(o)
				for _, j := range o.Jobs {
					l := j.Lost()
					require.NotEqual(t, cluster.Never, j.End, j.Trace.ID)
					require.GreaterOrEqual(t, j.Start, j.Trace.Submit, j.Trace.ID)
					require.GreaterOrEqual(t, j.Queue, int64(0), j.Trace.ID)
					require.GreaterOrEqual(t, l.Delay, int64(0), j.Trace.ID)
					require.LessOrEqual(t, j.Queue+l.Delay, j.Completion(), "%s\n%s", j.Trace.ID, about())
					shrinks := c.Study.Failures != nil && c.Study.Failures.Shrink
					notice := c.Study.Spot != nil && c.Study.Spot.Notice > 0
					if _, runs := had[j]; runs && !shrinks && !notice && policy.Name != "lucid" {
						require.Equal(t, j.Completion(), j.Queue+l.Delay+had[j], "%s\n%s", j.Trace.ID, about())
					}
				}
				for _, p := range o.Pools {
					require.LessOrEqual(t, p.Used, p.All+1e-6, about())
					require.LessOrEqual(t, p.UsedEver, p.AllEver+1e-6, about())
					for _, u := range p.Usage {
						require.LessOrEqual(t, u.Idle, u.GPUs, "%+v\n%s", u, about())
						require.GreaterOrEqual(t, u.Idle, int64(0), about())
					}
				}
			}
		})
	}
}
