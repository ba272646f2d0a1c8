package study

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/study"
)

// Several seeds without random draws are named, because all of them would have the same results.
func TestSeedsWithoutDraws(t *testing.T) {
	p := &study.Plan{Schedulers: []study.Scheduler{{Name: "fifo"}}}
	require.Empty(t, unusedSeeds(&study.Schedule{Seeds: 1}, p))
	require.Contains(t, unusedSeeds(&study.Schedule{Seeds: 2}, p)[0], "schedule.seeds has no effect")
	p.Schedulers[0].Learned = 5
	require.Len(t, unusedSeeds(&study.Schedule{Seeds: 2}, p), 1, "policies are simulated whether or not seeds are set")
	p.Schedulers[0].Seeds = []uint64{0, 1}
	require.Empty(t, unusedSeeds(&study.Schedule{Seeds: 2}, p))
}
