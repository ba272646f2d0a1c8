package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/report/runs"
)

// Cases whose networks are equal for every seed are named together.
func TestEqualCases(t *testing.T) {
	trials := func(digests ...string) (list []runs.TrialOutcome) {
		for k, d := range digests {
			list = append(list, runs.TrialOutcome{Seed: int64(k), Digest: d})
		}
		return list
	}
	o := &runs.SweepOutcome{Cases: []*runs.CaseOutcome{
		{Name: "a", Trials: trials("1", "2")}, {Name: "b", Trials: trials("1", "3")},
		{Name: "c", Trials: trials("1", "2")}, {Name: "d", Trials: trials("1")}, {Name: "e"}, {Name: "f"},
		{Name: "g", Trials: trials("", "")}, {Name: "h", Trials: trials("", "")}}}
	require.Equal(t, "Equal in every trial: a, c. The keys in which they differ had no effect.", equalText(o))
	o.Cases = o.Cases[:2]
	require.Empty(t, equalText(o))
}
