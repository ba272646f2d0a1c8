package fabric_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/cluster/fabric"
)

// At every event, no server has two jobs, and the cluster's counts match its running jobs. In the end, each job is
// blocked or completed within its time limit, and servers worked as long as jobs held them.
func TestEpisodesKeepTheirBooks(t *testing.T) {
	kinds := append(fabric.Kinds(), fabric.ConstantKind(4))
	rapid.Check(t, func(t *rapid.T) {
		s := drawEpisode(t, rapid.IntRange(1, 30).Draw(t, "jobs"))
		w, err := fabric.NewWorld(s)
		require.NoError(t, err)
		held := 0.0
		w.Each = func(e *fabric.Event) {
			held += e.Servers * (e.To - e.From)
			owner := map[int]int{}
			jobs := 0
			for k := range w.Jobs {
				j := &w.Jobs[k]
				if j.Status != fabric.Running {
					continue
				}
				jobs++
				for _, server := range j.Run.Placed.Servers {
					_, taken := owner[server]
					require.False(t, taken, "server %d has two jobs", server)
					owner[server] = j.ID
				}
			}
			require.Equal(t, jobs, w.Running())
			require.Equal(t, len(owner), w.Held())
		}
		decider := rapid.SampledFrom(kinds).Draw(t, "decider").New(rand.New(rand.NewPCG(1, 1)))
		require.NoError(t, fabric.Play(context.Background(), w, decider))
		area, completed, blocked := 0.0, 0, 0
		for k := range w.Jobs {
			switch j := &w.Jobs[k]; j.Status {
			case fabric.Completed:
				completed++
				require.InDelta(t, j.Started+j.Time, j.Ended, 1e-6)
				require.InDelta(t, j.Arrival, j.Started, 1e-6)
				require.LessOrEqual(t, j.Time, j.Limit*s.Sequential(j)*(1+1e-9))
				area += j.Time * float64(len(j.Run.Placed.Servers))
			case fabric.Blocked:
				blocked++
				require.NotEqual(t, fabric.NoCause, j.Cause)
			default:
				require.Fail(t, "a job has no fate", "%d is %s", k, j.Status)
			}
		}
		require.Equal(t, len(s.Jobs), completed+blocked)
		require.Equal(t, [2]int{completed, blocked}, [2]int{w.Record.Completed, w.Record.Blocked})
		require.InDelta(t, area, held, 1e-5*(1+area))
	})
}
