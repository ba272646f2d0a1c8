package runs

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/simulation/evaluation"
)

// Outcomes of earlier versions have candidates without a result in any table. Their regret is unknown, not 0.
func TestStandingsWithoutATableAreUnknown(t *testing.T) {
	const scores = `"tables": [{"scenario": "a"}, {"scenario": "b", "missing": [{"chooser": "never", "why": "w"}]}],
		"standings": [{"chooser": "never", "tables": 0, "regret_points": 0}, {"chooser": "random", "tables": 2}]`
	missing := []evaluation.MissingScore{{Policy: "never", Why: unknownReason}}
	check := func(c *evaluation.Comparison) {
		require.Nil(t, c.Standing("never"))
		require.NotNil(t, c.Standing("random"))
		require.Equal(t, missing, c.Tables[0].Missing)
		require.Equal(t, "w", c.Tables[1].Missing[0].Why)
	}
	for _, text := range []string{`{"compared": {` + scores + `}}`, `{"left_out": {` + scores + `}}`} {
		o := &EvaluationOutcome{}
		require.NoError(t, json.Unmarshal([]byte(text), o))
		check(o.Comparison())
	}
	p := &PipelineOutcome{}
	require.NoError(t, json.Unmarshal([]byte(`{`+scores+`, "left_out": {`+scores+`}}`), p))
	check(p.Comparison)
	check(p.LeftOut.Comparison)

	series := &Series{Name: "standings", Columns: []Column{{Name: "chooser", Texts: []string{"never", "random"}},
		{Name: "tables", Values: []float64{0, 2}}, {Name: "regret", Values: []float64{0, 0}}}}
	dropUnknown(series)
	require.True(t, math.IsNaN(series.Columns[2].Values[0]))
	require.Zero(t, series.Columns[2].Values[1])
	require.Zero(t, series.Columns[1].Values[0])
}
