package stat

import "math"

// TIntervalOf is like [TInterval], but with a given probability that the interval does not contain the mean, such as
// 0.05.
func TIntervalOf(values []float64, miss float64) Interval {
	n, mean := float64(len(values)), Mean(values)
	half := StudentQuantile(1-miss/2, n-1) * Deviation(values) / math.Sqrt(n)
	return Interval{mean, mean - half, mean + half}
}

// Bonferroni returns the probability with which each of several intervals may fail to contain its true value, so that
// the probability that any interval fails is at most family (Dunn, Multiple comparisons among means, 1961). If there
// are no intervals, it returns family.
func Bonferroni(family float64, intervals int) float64 {
	return family / float64(max(1, intervals))
}
