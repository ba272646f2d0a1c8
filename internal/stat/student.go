package stat

import "math"

// TInterval returns the mean of a sample from a normal distribution and its 95% interval by Student's t-distribution
// (Student, The probable error of a mean, 1908). It is valid for small samples, for which the bootstrap interval is too
// narrow. With fewer than two values, the ends of the interval are NaN.
func TInterval(values []float64) Interval { return TIntervalOf(values, 0.05) }

// quantilePrecision is the relative width at which the search for a quantile ends.
const quantilePrecision = 1e-13

// StudentQuantile returns the quantile of Student's t-distribution for a probability between 0 and 1. It inverts
// [StudentCDF] by bisection. It returns NaN if the degrees of freedom are not positive.
func StudentQuantile(share, freedom float64) float64 {
	switch {
	case !(share > 0 && share < 1 && freedom > 0):
		return math.NaN()
	case share < 0.5:
		return -StudentQuantile(1-share, freedom)
	}
	low, high := 0.0, 1.0
	for StudentCDF(high, freedom) < share && !math.IsInf(high, 1) {
		low, high = high, 2*high
	}
	for high-low > quantilePrecision*high {
		if middle := low + (high-low)/2; StudentCDF(middle, freedom) < share {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// StudentCDF returns the distribution function of Student's t-distribution: formula 26.7.1 of Abramowitz and Stegun,
// Handbook of Mathematical Functions, 1964.
func StudentCDF(t, freedom float64) float64 {
	square := t * t
	tail := incompleteBeta(freedom/2, 0.5, freedom/(freedom+square), square/(freedom+square)) / 2
	if t > 0 {
		return 1 - tail
	}
	return tail
}

// incompleteBeta is the regularized incomplete beta function, by its continued fraction in the range of fast
// convergence. y is 1 - x, which the caller has with more digits if x is near 1.
func incompleteBeta(a, b, x, y float64) float64 {
	switch {
	case x <= 0:
		return 0
	case y <= 0:
		return 1
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log(y))
	if x < (a+1)/(a+b+2) {
		return front * betaFraction(a, b, x) / a
	}
	return 1 - front*betaFraction(b, a, y)/b
}

// Limits of the continued fraction. The number of its terms is about the square root of the larger argument.
const (
	maxTerms      = 10_000
	termPrecision = 1e-16
	tiny          = 1e-300 // replaces a zero denominator
)

// betaFraction is the continued fraction 26.5.8 of Abramowitz and Stegun, by the method of Lentz (Applied Optics 15,
// 1976) as modified by Thompson and Barnett (1986).
func betaFraction(a, b, x float64) float64 {
	c, d := 1.0, 1/nonzero(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m < maxTerms; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d, c = 1/nonzero(1+even*d), nonzero(1+even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d, c = 1/nonzero(1+odd*d), nonzero(1+odd/c)
		h *= d * c
		if math.Abs(d*c-1) < termPrecision {
			break
		}
	}
	return h
}

func nonzero(x float64) float64 {
	if math.Abs(x) < tiny {
		return tiny
	}
	return x
}
