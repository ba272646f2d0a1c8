package rigid

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/failures"
)

func TestSpotOptions(t *testing.T) {
	for want, o := range map[string]SpotOptions{
		"spot.notice_seconds is -1; must be between 0":      {Evict: true, Notice: -1},
		"spot.save_seconds is -1; must be between 0":        {Evict: true, Save: -1},
		"spot.notice_seconds is 9999999999; must be":        {Evict: true, Notice: 9_999_999_999},
		"set evict = true, or remove notice_seconds and sa": {Notice: 3},
	} {
		require.ErrorContains(t, o.Validate(), want)
	}
	o := SpotOptions{Evict: true}
	o.EnsureDefaults()
	require.NoError(t, o.Validate())
	require.EqualValues(t, 60, o.Save)
	none := SpotOptions{}
	none.EnsureDefaults()
	require.Zero(t, none)

	f := New()
	f.Cluster.Nodes, f.Cluster.Spot.Evict = 1, true
	f.Failures = failures.Options{Checkpoint: 600}
	f.EnsureDefaults()
	require.NoError(t, f.Validate())
	require.EqualValues(t, 600, f.spot().Checkpoint)
	f.Cluster.Compat = CompatLucid
	require.ErrorContains(t, f.Validate(), "remove compat or evict")
	f = New()
	f.Cluster.Nodes, f.Failures.Checkpoint = 1, 600
	f.EnsureDefaults()
	require.ErrorContains(t, f.Validate(), "no node fails and no job is evicted; set failures.file, failures.outages "+
		"or cluster.spot.evict, or remove it")
	require.Nil(t, f.spot())
}
