package stat

import "math"

// Mean returns the sum of the values divided by their number, or NaN if there are none.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// DividedMean divides each value by the number of values and returns the sum, or zero if there are no values. It
// differs from [Mean] only by rounding.
func DividedMean(values []float64) float64 {
	mean := 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	return mean
}

// Deviation returns the sample standard deviation, with the divisor n-1. It returns NaN for fewer than two values.
func Deviation(values []float64) float64 {
	mean, sum := Mean(values), 0.0
	for _, v := range values {
		sum += float64((v - mean) * (v - mean)) // same rounding on every processor
	}
	return math.Sqrt(sum / float64(max(0, len(values)-1)))
}

// Population returns the mean, computed like [DividedMean], and the population standard deviation, with the divisor n.
// Both results are zero if there are no values.
func Population(values []float64) (mean, deviation float64) {
	mean = DividedMean(values)
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, math.Sqrt(deviation)
}

// Jain returns Jain's index of fairness: 1 if all n values are equal, 1/n if only one of them is above zero, and NaN if
// there are no values (Jain, Chiu, Hawe, DEC research report 301, 1984).
func Jain(values []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, x := range values {
		sum, squares = sum+x, squares+x*x
	}
	return sum * sum / (float64(len(values)) * squares)
}

// Round rounds a number to the given number of decimals, halves away from zero. NaN and infinities are unchanged, and
// the result is never a negative zero.
func Round(v float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	if rounded := math.Round(v * scale); !math.IsInf(rounded, 0) {
		return rounded/scale + 0
	}
	return v // too large to have decimals
}
