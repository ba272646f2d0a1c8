package report

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
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

	q = paired(first, []float64{10, 20 * (1 + 1e-12), 30}, equal)
	require.Equal(t, 1.0, *q.Cells[1].Chance)
	require.True(t, q.everywhere(), "equal up to rounding")
	require.False(t, paired(first, []float64{10, 20.1, 30}, equal).everywhere())
}
