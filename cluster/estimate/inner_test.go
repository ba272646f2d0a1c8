package estimate

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/cluster/trace"
)

// rounding is for sums of a few hundred numbers below a thousand.
const rounding = 1e-8

func TestEveryNumberFallsIntoItsBin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.Float32Range(-5, 5).Filter(func(v float32) bool { return v == v })
		values := rapid.SliceOfN(rapid.OneOf(few, rapid.SampledFrom([]float32{0, 1, 2, 3})), 1, 200).Draw(t, "values")
		o := Options{Bins: rapid.IntRange(2, 40).Draw(t, "bins"),
			Binning: rapid.SampledFrom([]string{BinQuantile, BinUniform}).Draw(t, "binning")}
		c := column{name: "x", numbers: values}
		f := newFeature(&c, o)
		require.NoError(t, f.check())
		require.LessOrEqual(t, f.bins(), o.Bins+1)
		held := make([]int, f.bins())
		for k, bin := range f.column(&c) {
			held[bin]++
			low, high := f.limits(int(bin))
			require.LessOrEqual(t, low, float64(values[k]))
			require.True(t, float64(values[k]) < high || values[k] == f.high)
		}
		require.NotContains(t, held[1:], 0, "a bin without rows")
		require.Zero(t, held[missingBin])
	})
}

// Quantile bins of distinct values have about equal numbers of rows.
func TestQuantilesAreEven(t *testing.T) {
	var values []float32
	for k := range 1000 {
		values = append(values, float32(k*k))
	}
	f := newFeature(&column{numbers: values}, Options{Bins: 10, Binning: BinQuantile})
	held := make([]int, f.bins())
	for _, bin := range f.column(&column{numbers: values}) {
		held[bin]++
	}
	for _, n := range held[1:] {
		require.InDelta(t, 100, n, 2)
	}
}

func TestUniformBinsAreEquallyWide(t *testing.T) {
	var values []float32
	for k := range 1000 {
		values = append(values, float32(k*k))
	}
	f := newFeature(&column{numbers: values}, Options{Bins: 8, Binning: BinUniform})
	require.Len(t, f.edges, 7)
	for k, edge := range f.edges {
		require.InDelta(t, 999*999*float64(k+1)/8, edge, 1)
	}
}

func TestIsotonicIsTheNearest(t *testing.T) {
	values := []float64{1, 3, 2, 4, 3.5}
	isotonic(values, []float64{1, 1, 3, 2, 2}, 1)
	require.InDeltaSlice(t, []float64{1, 2.25, 2.25, 3.75, 3.75}, values, rounding)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		before := rapid.SliceOfN(rapid.Float64Range(-10, 10), n, n).Draw(t, "values")
		weights := rapid.SliceOfN(rapid.Float64Range(0.5, 20), n, n).Draw(t, "weights")
		way := rapid.SampledFrom([]int{1, -1}).Draw(t, "way")
		after := slices.Clone(before)
		isotonic(after, weights, way)
		for k := 1; k < n; k++ {
			require.GreaterOrEqual(t, float64(way)*after[k], float64(way)*after[k-1])
		}
		// The nearest point of a convex cone: the residual is orthogonal to the answer, and no step of the cone reduces
		// the distance.
		inner, running := 0.0, 0.0
		for k := range after {
			inner += weights[k] * (before[k] - after[k]) * after[k]
			running += float64(way) * weights[k] * (before[k] - after[k])
			require.GreaterOrEqual(t, running, -rounding, "the first %d could be lower", k+1)
		}
		require.InDelta(t, 0, running, rounding)
		require.InDelta(t, 0, inner, rounding*10)
		again := slices.Clone(after)
		isotonic(again, weights, way)
		require.InDeltaSlice(t, after, again, rounding)
	})
}

// residuals draws the sums and counts of bins.
func residuals(t *rapid.T, n int) (sums, counts []float64) {
	for range n {
		counts = append(counts, float64(rapid.IntRange(0, 9).Draw(t, "count")))
		sums = append(sums, counts[len(counts)-1]*rapid.Float64Range(-3, 3).Draw(t, "mean"))
	}
	return sums, counts
}

// saved returns the drop in squared error if each bin gets a value.
func saved(sums, counts, update []float64) float64 {
	gain := 0.0
	for k := range sums {
		gain += 2*sums[k]*update[k] - counts[k]*update[k]*update[k]
	}
	return gain
}

func TestATreeOfTwoLeavesIsTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sums, counts := residuals(t, rapid.IntRange(2, 12).Draw(t, "bins"))
		least := float64(rapid.IntRange(1, 8).Draw(t, "least"))
		update := make([]float64, len(sums))
		g := grower{leaves: 2, least: least}
		g.grow(sums, counts, update, false)
		total, rows := 0.0, 0.0
		for k := 1; k < len(sums); k++ {
			total, rows = total+sums[k], rows+counts[k]
		}
		if rows < least {
			return
		}
		best, left, n := explained(total, rows), 0.0, 0.0
		for cut := 1; cut < len(sums)-1; cut++ {
			left, n = left+sums[cut], n+counts[cut]
			if n >= least && rows-n >= least {
				best = max(best, explained(left, n)+explained(total-left, rows-n))
			}
		}
		require.InDelta(t, best, saved(sums[1:], counts[1:], update[1:]), rounding)
	})
}

// A tree of texts finds the best of all divisions in two.
func TestATreeOfTextsIsTheBestDivision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 9).Draw(t, "bins")
		sums, counts := residuals(t, n)
		for k := range counts {
			counts[k]++ // without empty bins, least hardly changes any mean
		}
		const least = 1e-9
		update := make([]float64, n)
		g := grower{leaves: 2, least: least}
		g.grow(sums, counts, update, true)
		best := 0.0
		for side := range 1 << (n - 1) {
			var s, c [2]float64
			for k := 1; k < n; k++ {
				part := side >> (k - 1) & 1
				s[part], c[part] = s[part]+sums[k], c[part]+counts[k]
			}
			best = max(best, explained(s[0], c[0])+explained(s[1], c[1]))
		}
		require.InDelta(t, best, saved(sums[1:], counts[1:], update[1:]), 1e-6)
	})
}

func TestATreeOfAPairIsTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(1, 5).Draw(t, "cols")
		sums, counts := residuals(t, rows*cols)
		least := float64(rapid.IntRange(1, 8).Draw(t, "least"))
		g := pairGrower{least: least}
		g.load(sums, counts, rows, cols)
		update := make([]float64, rows*cols)
		g.grow(update)
		if _, n := g.box(0, rows, 0, cols); n >= least {
			require.InDelta(t, bestOfPair(&g, rows, cols), saved(sums, counts, update), rounding)
		}
	})
}

// bestOfPair tries all trees with one cut and two cuts below it.
func bestOfPair(g *pairGrower, rows, cols int) float64 {
	half := func(r0, r1, c0, c1 int, alongRows bool) float64 {
		sum, n := g.box(r0, r1, c0, c1)
		if n < g.least {
			return math.Inf(-1)
		}
		best := explained(sum, n)
		for r := r0 + 1; r < r1 && alongRows; r++ {
			s, c := g.box(r0, r, c0, c1)
			if c >= g.least && n-c >= g.least {
				best = max(best, explained(s, c)+explained(sum-s, n-c))
			}
		}
		for c := c0 + 1; c < c1 && !alongRows; c++ {
			s, m := g.box(r0, r1, c0, c)
			if m >= g.least && n-m >= g.least {
				best = max(best, explained(s, m)+explained(sum-s, n-m))
			}
		}
		return best
	}
	best := explained(g.box(0, rows, 0, cols))
	for r := 1; r < rows; r++ {
		best = max(best, half(0, r, 0, cols, false)+half(r, rows, 0, cols, false))
	}
	for c := 1; c < cols; c++ {
		best = max(best, half(0, rows, 0, c, true)+half(0, rows, c, cols, true))
	}
	return best
}

// A sum of two effects has no interaction. A change in one cell has one.
func TestNoInteractionInWhatAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(2, 6).Draw(t, "rows"), rapid.IntRange(2, 6).Draw(t, "cols")
		first := rapid.SliceOfN(rapid.Float64Range(-2, 2), rows, rows).Draw(t, "first")
		sums, counts := make([]float64, rows*cols), make([]float64, rows*cols)
		for cell := range sums {
			counts[cell] = 10
			sums[cell] = 10 * (first[cell/cols] + float64(cell%cols))
		}
		g := pairGrower{least: 1}
		g.load(sums, counts, rows, cols)
		require.InDelta(t, 0, g.interaction(), rounding)
		sums[0] += 10
		g.load(sums, counts, rows, cols)
		require.Greater(t, g.interaction(), 0.01)
	})
}

func TestPurifyingKeepsTheSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 6).Draw(t, "rows"), rapid.IntRange(1, 6).Draw(t, "cols")
		values, weights := residuals(t, rows*cols)
		before := slices.Clone(values)
		first, second := purify(values, weights, rows, cols)
		for cell, v := range values {
			require.InDelta(t, before[cell], v+first[cell/cols]+second[cell%cols], rounding)
		}
		for r := range rows {
			sum := 0.0
			for c := range cols {
				sum += values[r*cols+c] * weights[r*cols+c]
			}
			require.InDelta(t, 0, sum, 1e-6, "row %d", r)
		}
	})
}

func TestCoarseGroupsAreNeighbours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(t, "bins")
		_, weights := residuals(t, n)
		most := rapid.IntRange(2, 12).Draw(t, "most")
		groups := coarse(upTo(n)[1:], weights, most)
		require.Zero(t, groups[missingBin])
		require.EqualValues(t, 1, groups[1])
		for bin := 2; bin < n; bin++ {
			require.Contains(t, []uint16{groups[bin-1], groups[bin-1] + 1}, groups[bin])
		}
		require.LessOrEqual(t, int(slices.Max(groups)), most)
		if n-1 <= most {
			require.EqualValues(t, n-1, slices.Max(groups), "few bins have a group each")
		}
	})
}

func TestHistoryFallsBack(t *testing.T) {
	var h history
	h.ended(&trace.Job{User: "a", Name: "x", GPUs: 1, Duration: 10})
	h.ended(&trace.Job{User: "a", Name: "x", GPUs: 1, Duration: 30})
	h.ended(&trace.Job{User: "a", Name: "y", GPUs: 1, Duration: 110})
	h.ended(&trace.Job{User: "b", Name: "y", GPUs: 1, Duration: 250})
	require.InDelta(t, 20, h.mean(&trace.Job{User: "a", Name: "x", GPUs: 1}), 1e-9)
	require.InDelta(t, 50, h.mean(&trace.Job{User: "a", Name: "x", GPUs: 2}), 1e-9)
	require.InDelta(t, 100, h.mean(&trace.Job{User: "c"}), 1e-9)
	h.ended(&trace.Job{User: "a", Name: "x", GPUs: 1, Share: 500, Duration: 7})
	require.InDelta(t, 7, h.mean(&trace.Job{User: "a", Name: "x", GPUs: 1, Share: 500}), 1e-9,
		"half a device is another kind")
}
