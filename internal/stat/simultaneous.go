package stat

import "math"

// TIntervalOf is [TInterval] with a level other than 95%, given as the share of intervals that miss, such as 0.05.
func TIntervalOf(values []float64, miss float64) Interval {
	n, mean := float64(len(values)), Mean(values)
	half := StudentQuantile(1-miss/2, n-1) * Deviation(values) / math.Sqrt(n)
	return Interval{mean, mean - half, mean + half}
}

// Bonferroni returns the share that each of several intervals may miss so that all of them hold together except in the
// share family of cases (Dunn, Multiple comparisons among means, 1961). Zero intervals leave the share unchanged.
func Bonferroni(family float64, intervals int) float64 {
	return family / float64(max(1, intervals))
}
