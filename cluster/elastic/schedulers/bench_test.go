package schedulers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic/schedulers"
)

// BenchmarkDefault simulates 200 jobs on 500 nodes.
func BenchmarkDefault(b *testing.B) {
	p := readPublished(b)
	for _, kind := range schedulers.Kinds() {
		for name, quirks := range map[string]bool{"original": true, "corrected": false} {
			b.Run(kind.Name+"/"+name, func(b *testing.B) {
				s := p.study(b, "default_google", 1)
				if !quirks {
					s.Options.Quirks = nil
				}
				slots := 0
				for b.Loop() {
					result, err := s.Run(b.Context(), kind)
					require.NoError(b, err)
					slots += result.Slots
				}
				b.ReportMetric(float64(slots)/b.Elapsed().Seconds(), "slots/s")
			})
		}
	}
}
