package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/node"
)

// Sums of late arrivals overflow a time.Duration. The bound remains the work of tasks that never wait.
func TestBoundOfLateArrivals(t *testing.T) {
	s := node.Study{Tasks: []node.Spec{task(50, 10, 3)}}
	for range 4 {
		late := task(50, 10, 3)
		late.Arrival = 99 * 365 * 24 * time.Hour
		s.Tasks = append(s.Tasks, late)
	}
	require.InDelta(t, 3, node.Bound(s), 1e-9)
}
