package schedulers_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/schedulers"
	"graft/cluster/trace"
)

// Under offers, no job waits for more than 600 s while a device is idle, because every job can run on one device.
func TestOffersLeaveNoDeviceIdle(t *testing.T) {
	policy, err := schedulers.Named("offers")
	require.NoError(t, err)
	waited := 0
	for k := range 60 {
		r := rand.New(rand.NewPCG(31, uint64(k)))
		nodes := 1 + r.IntN(4)
		study := cluster.Study{VCs: []trace.VC{{Name: "a", Nodes: nodes}}}
		at := int64(0)
		for j := range 60 {
			at += r.Int64N(3000)
			study.Jobs = append(study.Jobs, trace.Job{ID: fmt.Sprint(j), VC: "a", Submit: at,
				GPUs: 1 + r.IntN(8*nodes), Duration: 1 + r.Int64N(20_000)})
		}
		o, err := study.Run(t.Context(), policy, cluster.Options{Series: true})
		require.NoError(t, err)
		since := int64(-1)
		for _, u := range o.Pools[0].Usage {
			if u.Waiting == 0 || u.Idle == 0 {
				since = -1
				continue
			}
			if waited++; since < 0 {
				since = u.At
			}
			require.LessOrEqual(t, u.At-since, int64(600), "case %d, second %d: %d jobs wait beside %d idle devices", k,
				u.At, u.Waiting, u.Idle)
		}
	}
	require.Greater(t, waited, 100, "the cases hardly have jobs that wait")
}
