package cluster

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
)

// A simulation of a million jobs holds a million of each.
func TestJobsAreSmall(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(trace.Job{}), uintptr(160))
	require.LessOrEqual(t, unsafe.Sizeof(Job{}), uintptr(168))
	require.LessOrEqual(t, unsafe.Sizeof(Share{}), uintptr(16))
}
