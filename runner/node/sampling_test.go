package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/node/world"
	"graft/internal/telemetry"
)

// Files accept the same sampling intervals as the sampler.
func TestSamplingOfFilesIsThatOfTheSampler(t *testing.T) {
	for at, fine := range map[time.Duration]bool{
		world.ShortestSampling: true, world.ShortestSampling - 1: false,
		world.LongestSampling: true, world.LongestSampling + 1: false,
	} {
		o := telemetry.SamplerOptions{Interval: at}
		require.Equal(t, fine, o.Validate() == nil, "%v", at)
		e := world.Executor{Sampling: at}
		e.EnsureDefaults()
		require.Equal(t, fine, e.Validate() == nil, "%v", at)
	}
	var o telemetry.SamplerOptions
	o.EnsureDefaults()
	require.Equal(t, world.UsualSampling, o.Interval)
}
