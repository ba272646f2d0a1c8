package fabric_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/cluster/fabric"
)

// The critical path covers a step without gaps. Spans of a server or of a track do not overlap.
func TestTimelines(t *testing.T) {
	for name, network := range map[string]fabric.Network{"ramp": ramp(), "tree": tree()} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s, placed := placedOn(t, network)
				line, err := s.Timing().Timeline(placed)
				require.NoError(t, err)
				step, err := func() (*fabric.Step, error) { timing := s.Timing(); return timing.Run(placed) }()
				require.NoError(t, err)
				require.Equal(t, step, line.Step, "to watch changes nothing")
				sum, end := 0.0, 0.0
				for _, span := range line.Critical() {
					require.InDelta(t, end, span.From, 1e-8*step.Time)
					sum, end = sum+span.To-span.From, span.To
				}
				require.InDelta(t, step.Time, sum, 1e-7*step.Time)
				track, pairs := line.Tracks()
				last := map[[2]int]float64{}
				computed := 0.0
				for k, span := range line.Spans {
					require.LessOrEqual(t, span.To, step.Time*(1+1e-9))
					key := [2]int{0, track[k]}
					if span.Op >= 0 {
						computed += span.To - span.From
						key = [2]int{1, placed.Server[span.Op]}
					} else {
						require.Less(t, track[k], len(pairs))
					}
					require.GreaterOrEqual(t, span.From, last[key]-1e-12)
					last[key] = span.To
				}
				require.InDelta(t, s.Models[0].Details.Compute*1e-3, computed, 1e-6)
			})
		})
	}
}
