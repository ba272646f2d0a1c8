package study_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/study"
)

// Two workloads whose names differ only in characters that folders replace are an error: the second one would get the
// results of the first.
func TestWorkloadsHaveFoldersOfTheirOwn(t *testing.T) {
	p := study.Plan{Points: []study.Point{{}}, Workloads: []string{"jobs 1", "jobs-1"},
		Schedulers: []study.Scheduler{{Name: "fifo"}}}
	require.ErrorContains(t, p.Validate(), "two simulations have the folder jobs-1/fifo")
	p.Workloads[1] = "jobs-2"
	require.NoError(t, p.Validate())
}
