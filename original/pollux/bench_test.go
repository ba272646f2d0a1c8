package pollux

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/adaptive"
)

// The published simulator takes 20 CPU seconds for the workload under Tiresias and 68 under Optimus.
func BenchmarkWorkload(b *testing.B) {
	apps := applications(b)
	for _, kind := range adaptive.Kinds()[:2] {
		s := study(b, apps, "1.0/workload-6", kind)
		b.Run(kind.Name, func(b *testing.B) {
			for b.Loop() {
				_, err := s.Run(context.Background(), kind)
				require.NoError(b, err)
			}
		})
	}
}
