package trace_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
)

// Three jobs on parts of one GPU use 0.1 × 10 h, 0.1 × 10 h and 0.5 × 10 h, of which a node failure lost 0.5 × 4 h.
func TestPartsOfGPUsCountAsParts(t *testing.T) {
	const text = "id,submit [s],duration [s],gpus,share [1/1000],state,lost [s],node_failures\n" +
		"1,0,36000,1,100,COMPLETED,,\n2,10,36000,1,100,FAILED,,\n3,36000,36000,1,500,COMPLETED,14400,1\n"
	r := must(trace.NewReader(strings.NewReader(text), "a.csv", trace.Options{History: true}))
	s := must(trace.Summarize(r, trace.SummaryOptions{GPUs: 1}))
	require.InDelta(t, 7, s.GPUHours, 1e-9)
	require.InDelta(t, 0.7, *s.Load, 1e-9)
	require.InDelta(t, 7, s.VCs[0].GPUHours, 1e-9)
	require.InDelta(t, 7, s.Sizes[0].GPUHours, 1e-9)
	require.InDelta(t, 1, s.Waste.Ended, 1e-9)
	require.InDelta(t, 2, s.Waste.Lost, 1e-9)
	require.InDelta(t, 2, s.Failures.GPUHours, 1e-9)
}
