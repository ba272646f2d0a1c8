package rigid

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
)

func TestLimitsAreNeeded(t *testing.T) {
	for want, change := range map[string]func(f *File){
		"cluster.enforce_limits needs the users' time limits":   func(f *File) { f.Cluster.EnforceLimits = true },
		"schedule.deadline_factor needs the users' time limits": func(f *File) { f.Schedule.DeadlineFactor = 2 },
	} {
		f := New()
		change(f)
		s := &inputs{File: f}
		s.base.Jobs = []trace.Job{{ID: "1"}}
		require.ErrorContains(t, s.needsLimits(), want)
		s.base.Jobs[0].Limit = 60
		require.NoError(t, s.needsLimits())
	}
	f := New()
	f.Cluster.Nodes, f.Schedule.DeadlineFactor = 1, -1
	f.EnsureDefaults()
	require.ErrorContains(t, f.Validate(), "deadline_factor is -1; must be between 0 and")
}
