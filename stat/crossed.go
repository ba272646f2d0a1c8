package stat

import "math"

// CrossedInterval is the mean of a table with its 95% interval where rows and columns are both drawn, such
// as workloads and seeds: the variances of the row means and of the column means add up, which counts the
// noise of single cells twice and so is not too narrow (Owen, "The pigeonhole bootstrap", 2007, bounds the
// variance of crossed data likewise). The degrees of freedom are those of Welch and Satterthwaite. One
// column leaves the rows alone. The ends are NaN for a single row, and for no rows.
func CrossedInterval(rows [][]float64) Interval {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return Interval{math.NaN(), math.NaN(), math.NaN()}
	}
	across, columns := make([]float64, len(rows)), make([]float64, len(rows[0]))
	for k, row := range rows {
		across[k] = DividedMean(row)
		for c, v := range row {
			columns[c] += v / float64(len(rows))
		}
	}
	mean, variance := DividedMean(across), squareError(across)
	freedom := float64(len(rows) - 1)
	if of := squareError(columns); len(columns) > 1 && variance+of > 0 {
		freedom = (variance + of) * (variance + of) / (variance*variance/freedom + of*of/float64(len(columns)-1))
		variance += of
	}
	half := StudentQuantile(0.975, freedom) * math.Sqrt(variance)
	return Interval{mean, mean - half, mean + half}
}

// squareError is the variance of a mean.
func squareError(values []float64) float64 {
	d := Deviation(values)
	return d * d / float64(len(values))
}
