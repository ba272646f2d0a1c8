package estimate_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/estimate"
)

func TestWhatCannotBeLearnedIsSaid(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		build func(table *estimate.Table)
		o     estimate.Options
		want  []string
	}{
		"nothing": {func(*estimate.Table) {}, estimate.Options{}, []string{"has no columns",
			"the table has no target"}},
		"one row": {numbers([]float64{1}, []float64{2}), estimate.Options{},
			[]string{"the table has 1 rows; expected at least 2"}},
		"constant target": {numbers([]float64{1, 2, 3}, []float64{2, 2, 2}), estimate.Options{},
			[]string{"the target is 2 in all rows"}},
		"no value": {numbers([]float64{nan, nan, nan}, []float64{1, 2, 3}), estimate.Options{},
			[]string{"column x has no values"}},
		"target of NaN": {numbers([]float64{1, 2}, []float64{1, nan}), estimate.Options{},
			[]string{"target, row 1: NaN is not a finite number"}},
		"infinite target": {numbers([]float64{1, 2}, []float64{inf, 1}), estimate.Options{},
			[]string{"target, row 0: +Inf is not a finite number"}},
		"infinite feature": {numbers([]float64{1, inf}, []float64{1, 2}), estimate.Options{},
			[]string{"column x, row 1: +Inf is not a finite float32"}},
		"too large": {numbers([]float64{1, 1e300}, []float64{1, 2}), estimate.Options{},
			[]string{"column x, row 1: 1e+300 is not a finite float32"}},
		"targets too far": {numbers([]float64{1, 2}, []float64{-1.7e308, 1.7e308}), estimate.Options{},
			[]string{"range of the target is too large"}},
		"squares too far": {numbers(slices.Repeat([]float64{1, 2}, 50), slices.Repeat([]float64{-1e200, 1e200}, 50)),
			estimate.Options{},
			[]string{"range of the target is too large"}},
		"rows that do not fit": {numbers([]float64{1, 2}, []float64{1, 2, 3}), estimate.Options{},
			[]string{"the target has 3 rows; expected 2, as in the columns"}},
		"two of a name": {func(table *estimate.Table) {
			table.AddNumbers("x", []float64{1})
			table.AddTexts("x", []string{"a"})
		}, estimate.Options{}, []string{"duplicate column x"}},
		"no UTF-8": {func(table *estimate.Table) { table.AddTexts("x", []string{"a", "\xff"}) }, estimate.Options{},
			[]string{`column x, row 1: "\xff" is not valid UTF-8`}},
		"no name": {func(table *estimate.Table) { table.AddNumbers("", []float64{1}) }, estimate.Options{},
			[]string{"no name"}},
		"a logarithm": {numbers([]float64{1, 2}, []float64{-1, 2}), estimate.Options{Target: estimate.TargetLog},
			[]string{"the smallest target is -1"}},
		"monotone texts": {func(table *estimate.Table) {
			table.AddTexts("x", []string{"a", "b"})
			table.SetTarget([]float64{1, 2})
		}, estimate.Options{Monotone: map[string]int{"x": 1, "y": -1}},
			[]string{"monotone contains x, which is not", "monotone contains y, which is not"}},
		"options": {numbers([]float64{1, 2}, []float64{1, 2}),
			estimate.Options{Bins: 2000, PairBins: 1, LearningRate: 2, Rounds: -1, Leaves: 1, LeastRows: -1,
				Bags: -1, ValidationShare: 0.7, Patience: -1, Target: "t", Binning: "b", Validation: "v", Workers: -1,
				Monotone: map[string]int{"x": 2}}, []string{"bins is 2000", "pair_bins is 1", "learning_rate is 2",
				"rounds is -1", "leaves is 1", "least_rows is -1", "bags is -1",
				"validation_share is 0.7", "patience is -1", `target is "t"`, `binning is "b"`, `validation is "v"`,
				"workers is -1", "monotone x is 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			table := new(estimate.Table)
			c.build(table)
			m, err := estimate.Fit(t.Context(), table, c.o)
			require.Error(t, err)
			require.Nil(t, m)
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

// numbers fills a table with one column and a target.
func numbers(x, y []float64) func(*estimate.Table) {
	return func(table *estimate.Table) {
		table.AddNumbers("x", x)
		table.SetTarget(y)
	}
}

func TestWhatCannotBePredictedIsSaid(t *testing.T) {
	m := fit(t, newKnown(1, 200).table, estimate.Options{Bags: 1, Rounds: 5})
	row := newKnown(1, 1).table.Row(0)
	_, err := m.Predict(row[:2])
	require.ErrorContains(t, err, "2 values")
	row[1].Number = math.Inf(-1)
	_, err = m.Predict(row)
	require.ErrorContains(t, err, "b is -Inf")
	_, err = m.Explain(row)
	require.ErrorContains(t, err, "b is -Inf")
	table := new(estimate.Table)
	table.AddNumbers("c", []float64{1})
	_, err = m.PredictTable(table)
	require.ErrorContains(t, err, "column a is missing")
	require.ErrorContains(t, err, "column c contains numbers")
	_, err = m.Shape(len(m.Terms()))
	require.ErrorContains(t, err, "expected 0 to 15")
}

// A table answers queries before any fit.
func TestTables(t *testing.T) {
	table := new(estimate.Table)
	require.Zero(t, table.Rows())
	table.SetTarget([]float64{1, 2, 3})
	require.Equal(t, 3, table.Rows())
	table.AddTexts("text", []string{"a", "", "b"})
	table.AddNumbers("none", []float64{math.NaN(), math.NaN(), math.NaN()})
	table.AddTexts("same", []string{"a", "a", "a"})
	table.AddNumbers("number", []float64{1, math.NaN(), 2.5})
	require.NoError(t, table.Err())
	require.Equal(t, []string{"text", "none", "same", "number"}, table.Names())
	require.Equal(t, []string{"none", "same"}, table.Idle())
	left := table.Without(table.Idle()...).Pick([]int{2, 0})
	require.Equal(t, []float64{3, 1}, left.Target())
	require.Equal(t, []estimate.Value{{Text: "b"}, {Number: 2.5}}, left.Row(0))
	table.AddNumbers("short", []float64{1})
	require.ErrorContains(t, table.Err(), "column short has 1 rows; expected 3, as in the other columns")
}

// The smallest possible tables give models with finite predictions.
func TestSmallTables(t *testing.T) {
	for _, validation := range []string{estimate.ValidateRandom, estimate.ValidateBlocks, estimate.ValidateLast} {
		for n := 2; n < 12; n++ {
			x, y := make([]float64, n), make([]float64, n)
			for row := range x {
				x[row], y[row] = float64(row), float64(row*row)
			}
			table := new(estimate.Table)
			numbers(x, y)(table)
			table.AddNumbers("constant", make([]float64, n))
			m := fit(t, table, estimate.Options{Validation: validation, LeastRows: 1, Bags: 2})
			for _, v := range predict(t, m, table) {
				require.InDelta(t, float64(n*n)/2, v, float64(n*n))
			}
		}
	}
}
