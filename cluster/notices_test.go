package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A job that was preempted after its notice and has a new notice does not delay the evictions of other jobs.
func TestNoticesEndInOrder(t *testing.T) {
	p := newPool(newNodes(1, 3, nil), consolidate{}, LinearSpeed{}, 0)
	s := &spots{Spot: &Spot{Notice: 60}, engine: &engine{pool: p}}
	jobs := make([]Job, 3)
	for at, k := range []int{0, 1, 2, 1} {
		p.advance(int64(10 * at))
		if at == 3 {
			jobs[1].losses.notice = 0 // as after its preemption
		}
		s.notify(&jobs[k])
	}
	require.Equal(t, []*Job{&jobs[0], &jobs[2], &jobs[1]}, s.noticed)
	require.EqualValues(t, 90, jobs[1].losses.notice)
	require.EqualValues(t, 60, s.noticed[0].losses.notice)
}
