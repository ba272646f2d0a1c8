package stat

import (
	"cmp"
	"math"
	"slices"
)

// Number lists the types of values whose quantiles can be computed.
type Number interface{ ~int64 | ~float64 }

// Quantile returns the quantile of sorted values at the given fraction, such as 0.5 for the median. It interpolates
// linearly between the two nearest values. It returns NaN if there are no values. It is definition 7 of Hyndman and
// Fan, Sample quantiles in statistical packages, 1996.
func Quantile[N Number](sorted []N, share float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := share * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	low, high := float64(sorted[below]), float64(sorted[above])
	return low + (at-float64(below))*(high-low)
}

// StepQuantile returns the smallest of the sorted values for which at least the given share of all values is less than
// or equal to it. It is the inverse of the distribution function, definition 1 of Hyndman and Fan. It returns zero if
// there are no values.
func StepQuantile[N Number](sorted []N, share float64) N {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(int(math.Ceil(share*float64(len(sorted))))-1, 0)]
}

// Permille returns the sorted value at index n·p/1000, rounded down, where n is the number of values. It is used for
// the ends of percentile intervals. At least one value is required.
func Permille[N cmp.Ordered](sorted []N, p int) N {
	return sorted[min(len(sorted)*p/1000, len(sorted)-1)]
}

// Middle cuts the same number of values off both ends of the sorted values, so that the given share of the values
// remains, and returns the smallest and the largest remaining value. At least one value is required.
func Middle[N cmp.Ordered](sorted []N, share float64) (low, high N) {
	tail := int((1 - share) / 2 * float64(len(sorted)))
	return sorted[tail], sorted[len(sorted)-1-tail]
}

// Median returns the [Quantile] at one half. The values can be in any order.
func Median(values []float64) float64 {
	return Quantile(slices.Sorted(slices.Values(values)), 0.5)
}

// MedianSpread returns the median and half the distance between the quartiles, both computed by [Quantile]. Both
// results are NaN if there are no values.
func MedianSpread(values []float64) (median, spread float64) {
	sorted := slices.Sorted(slices.Values(values))
	return Quantile(sorted, 0.5), (Quantile(sorted, 0.75) - Quantile(sorted, 0.25)) / 2
}
