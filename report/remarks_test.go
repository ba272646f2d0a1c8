package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/stat"
	"graft/report/runs"
	"graft/simulation/evaluation"
)

// Baselines without a result are named with the reason, and policies outside of their training range with the inputs.
func TestRemarksOnTables(t *testing.T) {
	missing := func(scenario string, names ...string) evaluation.TableScores {
		t := evaluation.TableScores{Scenario: scenario}
		for _, name := range names {
			t.Missing = append(t.Missing, evaluation.MissingScore{Policy: name, Why: "it has no none"})
		}
		return t
	}
	require.Empty(t, missingRemarks(missing("a")))
	require.Equal(t, []string{"a and 1 other table: no result for never, because it has no none",
		"b: no result for best fixed, because it has no none"},
		missingRemarks(missing("a", "never"), missing("b", "never", "best fixed"), missing("c")))
	other := missing("b", "never", "best fixed")
	other.Missing[1].Why = "it is too small"
	require.Equal(t, []string{"a and 1 other table: no result for never, because it has no none",
		"a: no result for best fixed, because it has no none",
		"b: no result for best fixed, because it is too small"},
		missingRemarks(missing("a", "never", "best fixed"), other))
	require.Equal(t, []string{"a and 2 other tables: no result for never, best fixed, because it has no none"},
		missingRemarks(missing("a", "never", "best fixed"), missing("b", "best fixed", "never"),
			missing("c", "never", "best fixed")))

	outside := evaluation.TableScores{Outside: []evaluation.OutsideDecisions{{Policy: "mine", Decisions: 2, Of: 3,
		Inputs: []string{"layers", "left"}}}}
	require.Equal(t, []string{"mine: the policy was not trained on such values of layers, left, in 2 of 3 decisions; " +
		"in a job, adapt.fallback decides there"}, outsideRemarks(outside))
	require.Equal(t, []string{"mine: the policy was not trained on such values of layers, left, in 4 of 6 decisions " +
		"in 2 of 3 tables; in a job, adapt.fallback decides there"},
		outsideRemarks(outside, outside, evaluation.TableScores{}))
	require.Empty(t, outsideRemarks(evaluation.TableScores{}))
}

// Reports name the test that decides, with its p-value. Outcomes of earlier versions have the sign-flip test.
func TestDecidingTestIsNamed(t *testing.T) {
	s := evaluation.Standing{Policy: "forest", Role: evaluation.RolePolicy, Tables: 2,
		Difference: &evaluation.Difference{Mean: -2, Inside: true, Chance: 0.25, Test: evaluation.TTest,
			OverTables: &stat.Interval{Mean: -2, Low: -3, High: -1}}}
	r := runs.LeaveOutReport{LeaveOutReport: &evaluation.LeaveOutReport{
		Comparison: &evaluation.Comparison{Against: "never"}}}
	require.Equal(t, "forest: 2.00 points less regret than never, 95% interval over tables [-3.00, -1.00], p 0.250 by "+
		"a paired t-test: the interval excludes zero, but the test does not find the difference, so it is not "+
		"significant", leftOutSentence(r, s))
	s.Difference.Test = ""
	require.Equal(t, []string{"These differences have the mark although their interval excludes zero, because the " +
		"test in brackets does not find them: forest (p 0.250 by a sign-flip test)"},
		testDecides([]evaluation.Standing{s}))
}
