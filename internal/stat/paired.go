package stat

import "math"

// rounding is the largest relative difference of equal numbers that were computed in different orders. A difference of
// one image in a million between two accuracies has a relative rounding error of 1e-10.
const rounding = 1e-9

// NearlyEqual reports whether two numbers differ only by rounding.
func NearlyEqual(a, b float64) bool { return math.Abs(a-b) <= rounding*max(math.Abs(a), math.Abs(b)) }

// Difference returns a minus b. It returns zero if the numbers differ only by rounding.
func Difference(a, b float64) float64 {
	if NearlyEqual(a, b) {
		return 0
	}
	return a - b
}

// EqualDifferences reports whether paired differences are equal up to rounding: their deviation is at most 1e-9 of the
// largest. Fewer than two differences are equal.
func EqualDifferences(values []float64) bool {
	largest := 0.0
	for _, v := range values {
		largest = max(largest, math.Abs(v))
	}
	return len(values) < 2 || Deviation(values) <= rounding*largest
}

// PairedP computes the two-sided p-value of paired differences, for the hypothesis that their mean is zero. All reports
// use it for values that are paired by seed. It is the p-value of the t-test ([TPValue]), also for nearly equal
// differences. Differences that are equal up to rounding have no spread from which a t-test could estimate a standard
// error, so their p-value is from the sign-flip test ([SignFlip]): at most 0.05 for six differences or more. The
// p-value is 1 if all differences are zero.
func PairedP(values []float64) float64 {
	if EqualDifferences(values) {
		return SignFlip(values)
	}
	return TPValue(values)
}
