package report

import (
	"testing"

	"github.com/stretchr/testify/require"

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
	require.Equal(t, []string{"a and 1 other table: no result for never, best fixed, because it has no none"},
		missingRemarks(missing("a", "never"), missing("b", "never", "best fixed"), missing("c")))

	outside := evaluation.TableScores{Outside: []evaluation.OutsideDecisions{{Policy: "mine", Decisions: 2, Of: 3,
		Inputs: []string{"layers", "left"}}}}
	require.Equal(t, []string{"mine: the policy was not trained on such values of layers, left, in 2 of 3 decisions; " +
		"in a job, adapt.fallback decides there"}, outsideRemarks(outside))
	require.Equal(t, []string{"mine: the policy was not trained on such values of layers, left, in 4 of 6 decisions " +
		"in 2 of 3 tables; in a job, adapt.fallback decides there"},
		outsideRemarks(outside, outside, evaluation.TableScores{}))
	require.Empty(t, outsideRemarks(evaluation.TableScores{}))
}
