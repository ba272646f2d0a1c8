package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/report/document"
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

// A difference that is equal for all of three seeds has no interval, and is not significant.
func TestEqualDifferencesAreNotSignificant(t *testing.T) {
	made := func(name string, values ...float64) *runs.CaseOutcome {
		c := &runs.CaseOutcome{Name: name}
		for k, v := range values {
			c.Trials = append(c.Trials, runs.TrialOutcome{Seed: int64(k), Values: map[string]float64{
				runs.TestAccuracy: v}})
		}
		return c
	}
	o := &runs.SweepOutcome{Cases: []*runs.CaseOutcome{made("a", 0.5, 0.6, 0.7), made("b", 0.505, 0.605, 0.705)}}
	o.Summarize("a")
	const verdict = "The difference from a is paired by seed, in points of test accuracy.\nDifferences of b are " +
		"equal for all seeds, so the sign-flip test (Fisher 1935) tests them.\nCompared with a: b does not differ " +
		"significantly."
	text := sweepText(t, o)
	require.Contains(t, text, "+0.50\n")
	require.Contains(t, text, verdict)

	// Earlier versions called the difference significant, and had no detectable differences.
	o.Cases = append(o.Cases, made("c", 0.51, 0.62, 0.73))
	o.Summarize("a")
	o.Cases[1].Difference.Clear, o.Cases[2].Difference.Detectable = true, nil
	written, err := json.Marshal(o)
	require.NoError(t, err)
	read := &runs.SweepOutcome{}
	require.NoError(t, json.Unmarshal(written, read))
	text = sweepText(t, read)
	require.Contains(t, text, "Differences from a are paired by seed, in points of test accuracy. The interval is a "+
		"97.5% interval by Student's t-distribution, corrected for several differences by Bonferroni (Dunn 1961).\n"+
		"Differences of b are equal for all seeds, so the sign-flip test (Fisher 1935) tests them.\n"+
		"Compared with a: b and c do not differ significantly.")
}

func sweepText(t *testing.T, o *runs.SweepOutcome) string {
	t.Helper()
	d, text := &document.Document{}, &strings.Builder{}
	writeSweep(o, d)
	require.NoError(t, d.PrintCompact(text))
	return text.String()
}
