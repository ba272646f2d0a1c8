package report

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/study"
	"graft/report/document"
	"graft/report/runs"
	"graft/simulation/evaluation"
)

// Reports state ties for the best choice, for tables and for the arms of a comparison.
func TestTiesAreStated(t *testing.T) {
	c := &evaluation.Comparison{Against: "best fixed",
		Standings: []evaluation.Standing{{Policy: "best fixed"}, {Policy: "never"}}}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		c.Tables = append(c.Tables, evaluation.TableScores{Scenario: name, Ties: map[string]int{"best fixed": 4}})
	}
	require.Equal(t, []string{"best fixed: several choices tie as the best on the tables that selected them (4 in " +
		"a, 4 in b, 4 in c, and more in 2 further tables); the row is their mean."}, tieRemarks(c))
	o := &runs.SweepOutcome{Comparison: &runs.ComparisonOutcome{SweepComparison: runs.SweepComparison{Sequences: 3,
		Tried: 3}, Best: []string{"none"}, Tied: 2, Candidates: []runs.Candidate{{}}}}
	d, text := &document.Document{}, &strings.Builder{}
	writeSweep(o, d)
	require.NoError(t, d.PrintCompact(text))
	require.Contains(t, text.String(), "2 sequences tie for best fixed, and the first was taken")
}

// A difference between means that have no value is missing.
func TestMissingDifference(t *testing.T) {
	m := &study.Metric{Unit: "s", Format: "%.1f"}
	require.Equal(t, "-", differenceOf(&study.Interval{Mean: study.Number(math.NaN())}, m).String())
	require.Equal(t, "+2.0 [1.0, 3.0]", differenceOf(&study.Interval{Mean: 2, Low: 1, High: 3}, m).String())
}
