package pollux

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/adaptive"
	"graft/cluster/schedulers"
)

// A single job takes as long under a rigid scheduler as under Tiresias, within two seconds for rounds and rounding.
func TestRigidJobsTakeAsLong(t *testing.T) {
	apps := applications(t)
	kind, err := adaptive.Named("tiresias")
	require.NoError(t, err)
	s := study(t, apps, "0.5/workload-6", kind)
	s.Options.Quirks = nil
	rigid := cluster.Policy{}
	for _, k := range schedulers.Kinds() {
		if k.Name == "fifo" {
			rigid = k
		}
	}
	for _, j := range s.Jobs[:40] {
		j.Submitted = 0
		one := adaptive.Study{Jobs: []adaptive.Spec{j}, Options: s.Options}
		w, err := one.Run(context.Background(), kind)
		require.NoError(t, err)
		converted, err := one.Rigid()
		require.NoError(t, err)
		o, err := converted.Run(context.Background(), rigid, cluster.Options{})
		require.NoError(t, err)
		got := w.Jobs()[0]
		require.InDelta(t, got.Ended-got.Started, o.Jobs[0].End-o.Jobs[0].Start, 2, j.Name)
	}
}
