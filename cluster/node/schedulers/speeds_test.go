package schedulers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/node"
)

// Backfill expects a task to take longer on a slower GPU, so that a later task does not delay the first waiting one.
func TestBackfillOnSlowGPUs(t *testing.T) {
	kind, err := Named("backfill")
	require.NoError(t, err)
	s := time.Second
	study := node.Study{
		Options: node.Options{Devices: []node.Device{{Memory: 100, Speed: 1}, {Memory: 100, Speed: 0.1}}},
		Tasks: []node.Spec{{Name: "fast", Cores: 60, Work: 100 * s}, {Name: "slow", Cores: 60, Work: 50 * s},
			{Name: "head", Cores: 100, Work: 10 * s, Arrival: s},
			{Name: "later", Cores: 40, Work: 200 * s, Arrival: 2 * s}}}
	r, err := study.Run(t.Context(), kind, node.SchedulerOptions{})
	require.NoError(t, err)
	require.Equal(t, 100*s, r.Tasks[2].Began, "the first GPU is free after 100 s, the second one after 500 s")
}
