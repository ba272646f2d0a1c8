package cluster

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
)

// Jobs and shares stay small: a simulation can hold a million of each.
func TestJobsAreSmall(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(trace.Job{}), uintptr(160))
	require.LessOrEqual(t, unsafe.Sizeof(Job{}), uintptr(176))
	require.LessOrEqual(t, unsafe.Sizeof(Share{}), uintptr(16))
}
