package stat

import (
	"cmp"
	"math"
	"slices"
)

// Holm corrects p-values for multiple comparisons, so that the probability of any false positive is at most the level
// of a single test (Holm, A simple sequentially rejective multiple test procedure, 1979). NaN stays NaN, and does not
// count as a comparison.
func Holm(values []float64) []float64 {
	var order []int
	for k, v := range values {
		if !math.IsNaN(v) {
			order = append(order, k)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	corrected, least := slices.Clone(values), 0.0
	for at, k := range order {
		least = max(least, min(1, values[k]*float64(len(order)-at)))
		corrected[k] = least
	}
	return corrected
}

// PValue computes a two-sided p-value from the 95% interval of a mean, for the hypothesis that the mean is zero. It
// assumes that the mean is normally distributed (Altman and Bland, How to obtain the P value from a confidence
// interval, 2011). A bootstrap interval can be asymmetric: its end towards zero gives the standard error, so the
// p-value is below 0.05 exactly if the interval excludes zero. It returns NaN if there is no interval.
func (i Interval) PValue() float64 {
	const half = 1.959963984540054 // of a 95% interval, in standard errors
	towards := i.Mean - i.Low
	if i.Mean < 0 {
		towards = i.High - i.Mean
	}
	if towards < 0 { // the mean of skewed values can lie outside of their percentiles
		towards = (i.High - i.Low) / 2
	}
	return math.Erfc(math.Abs(i.Mean) * half / towards / math.Sqrt2)
}

// TPValue computes the two-sided p-value of the one-sample t-test, for the hypothesis that the mean of a normal
// distribution is zero (Student, The probable error of a mean, 1908). It is below 0.05 exactly if the interval of
// [TInterval] excludes zero. It returns NaN for fewer than two values, and if all values are zero. Equal values have a
// p-value near zero, because they have no standard error; use [PairedP] for values that can be equal.
func TPValue(values []float64) float64 { return TPValueAbove(values, 0) }

// TPValueAbove is like [TPValue], but the standard error of the mean is at least an error that is known from other
// data, such as the error by the noise of each value. By chance, few values can be closer together than their noise.
// This limit is the modification of the Knapp-Hartung test for few studies (Röver, Knapp and Friede,
// Hartung-Knapp-Sidik-Jonkman approach and its modification for random-effects meta-analysis with few studies, 2015).
func TPValueAbove(values []float64, known float64) float64 {
	n := float64(len(values))
	t := math.Abs(Mean(values)) / max(Deviation(values)/math.Sqrt(n), known)
	return 2 * StudentCDF(-t, n-1)
}
