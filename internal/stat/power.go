package stat

import "math"

// noncentralPrecision is the weight of the terms at which the series of [NoncentralStudentCDF] ends. Their sum is far
// below the precision of the quantiles that a power is computed from.
const noncentralPrecision = 1e-14

// NoncentralStudentCDF returns the distribution function of the noncentral t-distribution at t, by the series of
// algorithm AS 243 (Lenth, Applied Statistics 38, 1989). It returns NaN if t is negative, or if the shift or the
// degrees of freedom are not positive.
func NoncentralStudentCDF(t, freedom, shift float64) float64 {
	if !(t >= 0 && freedom > 0 && shift > 0) {
		return math.NaN()
	}
	half, square := shift*shift/2, t*t
	x, y := square/(freedom+square), freedom/(freedom+square)
	sum := math.Erfc(shift/math.Sqrt2) / 2
	for j := 0.0; ; j++ {
		// Both weights are computed from their logarithms: the first ones underflow for a large shift.
		even := math.Exp(-half + j*math.Log(half) - logGamma(j+1))
		odd := shift / math.Sqrt2 * math.Exp(-half+j*math.Log(half)-logGamma(j+1.5))
		sum += (even*incompleteBeta(j+0.5, freedom/2, x, y) + odd*incompleteBeta(j+1, freedom/2, x, y)) / 2
		if j > half && even+odd < noncentralPrecision {
			return min(sum, 1)
		}
	}
}

func logGamma(x float64) float64 {
	value, _ := math.Lgamma(x)
	return value
}

// PairedPower returns the power of a test on n paired differences, which are normally distributed with the given mean
// and standard deviation. The power is the probability that the interval of [TIntervalOf], whose miss probability is
// miss, excludes zero and lies on the side of the true difference. It is 1 - F(q), where F is the noncentral
// t-distribution with n-1 degrees of freedom and shift difference/(deviation/√n), and q is the quantile of the interval
// (Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988, chapter 2).
func PairedPower(difference, deviation float64, n int, miss float64) float64 {
	freedom := float64(n - 1)
	quantile := StudentQuantile(1-miss/2, freedom)
	return 1 - NoncentralStudentCDF(quantile, freedom, math.Abs(difference)/deviation*math.Sqrt(float64(n)))
}

// Detectable returns the true mean difference that a paired test of n pairs detects with the given power. The deviation
// is the standard deviation of the paired differences, and miss is the probability that the interval of the test does
// not contain the true mean. Detectable solves [PairedPower] by bisection. It returns NaN for fewer than two pairs or a
// deviation that is not positive.
func Detectable(deviation float64, n int, miss, power float64) float64 {
	if n < 2 || !(deviation > 0) || !(miss > 0 && miss < 1) || !(power > miss && power < 1) {
		return math.NaN()
	}
	low, high := 0.0, deviation
	for PairedPower(high, deviation, n, miss) < power && !math.IsInf(high, 1) {
		low, high = high, 2*high
	}
	for high-low > detectablePrecision*high {
		if middle := low + (high-low)/2; PairedPower(middle, deviation, n, miss) < power {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// detectablePrecision is the relative width at which the search for a difference ends, far below what reports print.
const detectablePrecision = 1e-10
