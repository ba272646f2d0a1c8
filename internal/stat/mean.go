package stat

import "math"

// Mean is the sum of the values over their number; NaN of none.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// DividedMean adds up the values, each divided by their number; zero of none. It
// differs from [Mean] in rounding alone.
func DividedMean(values []float64) float64 {
	mean := 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	return mean
}

// Deviation is the standard deviation of a sample, whose squares are divided by one
// less than the number of values; NaN below two.
func Deviation(values []float64) float64 {
	mean, sum := Mean(values), 0.0
	for _, v := range values {
		sum += float64((v - mean) * (v - mean)) // rounded alike on every processor
	}
	return math.Sqrt(sum / float64(max(0, len(values)-1)))
}

// Population returns the mean, as [DividedMean] has it, and the standard deviation of
// a whole population, whose squares are divided by the number of values. Both are
// zero of none.
func Population(values []float64) (mean, deviation float64) {
	mean = DividedMean(values)
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, math.Sqrt(deviation)
}

// Jain is Jain's index of fairness: 1 where all values are equal, 1/n where one has
// everything, NaN of none (Jain, Chiu, Hawe, DEC research report 301, 1984).
func Jain(values []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, x := range values {
		sum, squares = sum+x, squares+x*x
	}
	return sum * sum / (float64(len(values)) * squares)
}

// Round rounds to so many decimals, halves away from zero. NaN and infinities stay, and
// nothing rounds to a negative zero.
func Round(v float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	if rounded := math.Round(v * scale); !math.IsInf(rounded, 0) {
		return rounded/scale + 0
	}
	return v // too large to have decimals
}
