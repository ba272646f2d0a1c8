package schedulers_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/schedulers"
	"graft/cluster/trace"
)

// benchmarkStudy returns a generated month whose estimates are wrong by a factor of at most e.
func benchmarkStudy(b *testing.B) *cluster.Study {
	o := trace.GenerateOptions{Load: 0.8, Seed: 1}
	o.EnsureDefaults()
	g, err := trace.Generate(o)
	require.NoError(b, err)
	s := &cluster.Study{VCs: g.VCs(), Jobs: make([]trace.Job, o.Jobs), Estimates: make([]float64, o.Jobs)}
	for k := range s.Jobs {
		require.NoError(b, g.Read(&s.Jobs[k]))
		s.Estimates[k] = float64(s.Jobs[k].Duration) * math.Exp(math.Sin(float64(k)))
	}
	s.Profiles = cluster.MakeProfiles(s.Jobs)
	return s
}

// BenchmarkSchedulers simulates a month of jobs under each scheduler on one thread.
func BenchmarkSchedulers(b *testing.B) {
	s := benchmarkStudy(b)
	for _, policy := range schedulers.Kinds() {
		b.Run(policy.Name, func(b *testing.B) {
			events := int64(0)
			for range b.N {
				o, err := s.Run(context.Background(), policy, cluster.Options{Workers: 1})
				require.NoError(b, err)
				events = o.Events
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
		})
	}
}
