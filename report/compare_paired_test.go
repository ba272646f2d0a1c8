package report

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/files"
	"graft/internal/stat"
	"graft/report/document"
	"graft/report/runs"
	"graft/results"
)

// paired compares two columns; values with equal seeds are paired.
func paired(a, b []float64, seeds []int64) *comparedQuantity {
	q := &comparedQuantity{Better: "less", paired: true, Cells: []*comparedValue{
		{values: a, seeds: []int64{1, 2, 3}}, {values: b, seeds: seeds}}}
	q.test()
	return q
}

// The expected p-values were computed by hand: the t-test with two degrees of freedom has a closed form.
func TestColumnsArePairedBySeed(t *testing.T) {
	first, equal := []float64{10, 20, 30}, []int64{1, 2, 3}
	second := paired(first, []float64{11, 21, 31.5}, equal).Cells[1] // differences 1, 1, 1.5
	require.InDelta(t, 1-7/math.Sqrt(51), *second.Chance, 1e-9)
	require.False(t, second.Inside)

	second = paired(first, []float64{11, 21, 31.5}, []int64{4, 5, 6}).Cells[1]
	require.Greater(t, *second.Chance, 0.5, "without common seeds, the spread hides the difference")
	require.True(t, second.Inside)

	second = paired(first, []float64{11, 21, 31}, equal).Cells[1]
	require.InDelta(t, 0.25, *second.Chance, 1e-9, "equal differences: two of eight flips are as far")
	require.True(t, second.Inside)

	q := &comparedQuantity{Better: "less", paired: true,
		Cells: []*comparedValue{{values: []float64{1}}, {values: []float64{2}}, {values: []float64{1}}}}
	q.test()
	require.Nil(t, q.Cells[1].Chance, "single simulations are not tested")
	require.True(t, q.Cells[1].untested)
	require.Empty(t, q.cell(q.Cells[1]).After)
	require.False(t, q.Cells[2].untested, "equal values need no test")

	one := paired(first, []float64{11}, equal[:1])
	require.True(t, one.Cells[1].untested, "three simulations and one")
	c := comparison{Rows: []comparedQuantity{*one}}
	require.Contains(t, c.untested(), "not tested: a column has fewer than 3 simulations")
	c.Rows = append(c.Rows, *paired(first, []float64{11, 21, 31.5}, equal))
	require.Contains(t, c.untested(), "Differences are not tested if all seeds have equal values, or if")
	fixed := paired([]float64{1, 1, 1}, []float64{2, 2, 2}, equal)
	require.True(t, fixed.Cells[1].untested, "seeds have no effect")

	second = paired(first, []float64{31.5, 11, 21}, []int64{3, 1, 2}).Cells[1]
	require.InDelta(t, 1-7/math.Sqrt(51), *second.Chance, 1e-9, "the order of the runs does not matter")

	q = paired(first, []float64{10, 20 * (1 + 1e-12), 30}, equal)
	require.Equal(t, 1.0, *q.Cells[1].Chance)
	require.True(t, q.everywhere(), "equal up to rounding")
	require.False(t, paired(first, []float64{10, 20.1, 30}, equal).everywhere())
}

// Repetitions of a seed, such as on the wall clock, are one value: they have no interval over seeds.
func TestRepetitionsOfASeedAreOneValue(t *testing.T) {
	q := comparedQuantity{Better: "more", Cells: []*comparedValue{{values: []float64{1, 2, 3}, seeds: []int64{1, 1, 1}},
		{values: []float64{4, 6, 7, 8}, seeds: []int64{1, 1, 2, 3}}, {values: []float64{1, 2, 3}}}}
	q.test()
	require.Equal(t, summary{Mean: 2, N: 1}, q.Cells[0].summary)
	require.Equal(t, []float64{5, 7, 8}, q.Cells[1].values)
	require.NotNil(t, q.Cells[1].Low)
	require.Equal(t, 3, q.Cells[2].N, "values without seeds")
	c := comparison{Rows: []comparedQuantity{q}, Columns: []comparedColumn{
		{Name: "a", Seeds: []int64{1}, runs: make([]*runs.Run, 3)}, {}, {}}}
	require.Equal(t, "a: 3 runs with 1 seed; runs with the same seed count as one value, their mean. In parentheses: "+
		"smallest and largest value of all runs", c.repeats(0))
	require.Equal(t, "2 (1 to 3)", q.cell(q.Cells[0]).String())
	require.Nil(t, q.Cells[2].Repetitions)
	require.Empty(t, c.repeats(2))
}

// The report states that intervals were clipped at a limit of the values.
func TestClippedIntervalsAreNamed(t *testing.T) {
	c := comparison{Columns: []comparedColumn{{Name: "a"}}, Rows: []comparedQuantity{{Unit: "share", of: stat.Shares,
		Cells: []*comparedValue{{values: []float64{0.9, 0.99, 0.95}}}}}}
	c.Rows[0].test()
	require.Equal(t, 1.0, *c.Rows[0].Cells[0].High)
	require.Contains(t, c.remarks(false), cutIntervals)
	c.Rows[0].Cells[0] = &comparedValue{values: []float64{0.50, 0.51, 0.52}}
	c.Rows[0].test()
	require.NotContains(t, c.remarks(false), cutIntervals)
	c.Rows[0].Cells[0] = &comparedValue{values: []float64{1, 1, 1}}
	c.Rows[0].test()
	require.NotContains(t, c.remarks(false), cutIntervals, "all values are at the limit")
}

// Some seeds of a column lack a value, such as the energy on a machine without counters: the report says so.
func TestMeansOfSomeSeedsAreNamed(t *testing.T) {
	c := comparison{Columns: []comparedColumn{{Name: "a", Seeds: []int64{1, 2, 3}}}, Rows: []comparedQuantity{
		{Quantity: "steps", Cells: []*comparedValue{{values: []float64{1, 1, 1}, seeds: []int64{1, 2, 3}}}},
		{Quantity: "measured_energy", Cells: []*comparedValue{{values: []float64{7, 8}, seeds: []int64{1, 3}}}},
		{Quantity: "jobs", Cells: []*comparedValue{{values: []float64{7}}}}}}
	require.Equal(t, "a: some means have fewer than the 3 seeds of the column, because the others lack the value: "+
		"measured energy of 2", c.partial(0))
	c.Rows = c.Rows[:1]
	require.Empty(t, c.partial(0))
}

// Runs on the wall clock share a column with runs of other machines, and the report says so. The virtual clock gives
// the same results on each machine.
func TestMachinesOfRunsOnTheWallClock(t *testing.T) {
	made := func(path, host, profile string, seed uint64) *runs.Run {
		r := &runs.Run{Path: path, Kind: runs.JobKind, Files: files.OS{}, Seeded: true, Ended: true, Outcome: path,
			Settings: []config.Setting{}, Manifest: results.Manifest{Seed: seed, Host: host, Profile: profile},
			Quantities: []runs.Quantity{{Name: "speed", Seeds: []int64{int64(seed)}, Values: []float64{float64(seed)}}}}
		if path[0] == 'b' {
			r.Settings = []config.Setting{{Key: "k", Text: "b"}}
		}
		return r
	}
	text := func(list ...*runs.Run) string {
		d := &document.Document{}
		for _, c := range compareRuns(list) {
			c.write(d, false)
		}
		var b strings.Builder
		require.NoError(t, d.Print(&b))
		return b.String()
	}
	got := text(made("a1", "x", "", 1), made("a2", "y", "", 2), made("b", "x", "", 1))
	require.Contains(t, got, "a: runs on the wall clock of 2 machines (x, y), which may have different speeds")
	require.Regexp(t, `\(machine\) +x, y +x`, got)
	require.Contains(t, text(made("a1", "x", "", 1), made("a2", "x", "", 2)), "only seeds and paths differ")
	require.Contains(t, text(made("a1", "x", "", 1), made("a2", "x", "", 1)), "only paths and results differ")
	require.NotContains(t, text(made("a1", "x", "p", 1), made("a2", "y", "p", 2)), "machine")
}
