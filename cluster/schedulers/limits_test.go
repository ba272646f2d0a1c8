package schedulers

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/schedtest"
)

// A job that reaches its limit ends there, and no other job counts as timed out. Limits that no job reaches have no
// effect.
func TestLimits(t *testing.T) {
	for _, kind := range kindNames() {
		t.Run(kind, func(t *testing.T) {
			over := 0
			for k := range uint64(120) {
				r := rand.New(rand.NewPCG(k, 21))
				c := schedtest.Draw(r, schedtest.Shape{Span: 600, Jobs: 30, Limits: true, Types: k%3 == 0})
				c.Enlarge(2)
				c.Options.Changes, c.Options.Follow = true, nil
				free := ran(t, kind, c)
				c.Study.Limits = true
				o := ran(t, kind, c)
				had := schedtest.Held(o)
				for _, j := range o.Jobs {
					if _, runs := had[j]; !runs { // the job ended in Lucid's profiler
						continue
					}
					limit := j.Trace.Limit
					require.Equal(t, j.TimedOut(), limit > 0 && had[j] >= limit && j.Remaining() > 0, j.Trace.ID)
					require.True(t, limit == 0 || had[j] <= limit, "%s: %s had devices for %d s\n%s", kind, j.Trace.ID,
						had[j], c)
					if j.TimedOut() {
						require.Equal(t, limit, had[j])
						over++
					}
				}
				for at := range c.Study.Jobs {
					c.Study.Jobs[at].Limit *= 1_000_000
				}
				if kind != "edf" {
					require.Equal(t, schedtest.Table(free), schedtest.Table(ran(t, kind, c)))
				}
			}
			require.Greater(t, over, 50)
		})
	}
}

// The job with the earliest deadline starts first, and jobs without a limit start last.
func TestDeadlines(t *testing.T) {
	c, err := schedtest.Parse(`each 1
vc a 1
job first vc a at 0 for 100 on 1 limit 900
job none vc a at 1 for 10 on 1
job late vc a at 2 for 10 on 1 limit 90
job early vc a at 3 for 10 on 1 limit 50
`)
	require.NoError(t, err)
	for factor, want := range map[float64][]int64{0: {0, 120, 110, 100}, 0.001: {0, 120, 100, 110}} {
		c.Study.DeadlineFactor = factor
		var starts []int64
		for _, j := range ran(t, "edf", c).Jobs {
			starts = append(starts, j.Start)
		}
		require.Equal(t, want, starts)
	}
}
