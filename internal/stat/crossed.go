package stat

import "math"

// CrossedInterval returns the mean of a table with its 95% interval. Both rows and columns are treated as random
// samples, such as workloads and seeds. It adds the variances of the row means and of the column means. The sum counts
// the noise of single cells twice, which makes the interval conservative (Owen, "The pigeonhole bootstrap", 2007,
// bounds the variance of crossed data in the same way). The degrees of freedom follow Welch and Satterthwaite. With one
// column, only the rows are treated as random. With fewer than two rows, the ends of the interval are NaN.
func CrossedInterval(rows [][]float64) Interval {
	return crossed(rowMeans(rows), columnMeans(rows)).interval()
}

// CrossedDifference returns the mean of table a minus the mean of table b, with its 95% interval. Both tables must have
// the same number of rows; rows with the same index are paired. The columns of both tables are treated as random, as in
// [CrossedInterval].
func CrossedDifference(a, b [][]float64) Interval { return crossedDifference(a, b).interval() }

// CrossedPValue returns the two-sided p-value of the hypothesis that [CrossedDifference] is zero.
func CrossedPValue(a, b [][]float64) float64 {
	d := crossedDifference(a, b)
	return 2 * StudentCDF(-math.Abs(d.mean)/d.err, d.freedom)
}

func crossedDifference(a, b [][]float64) estimate {
	rows, others := rowMeans(a), rowMeans(b)
	for k := range rows {
		rows[k] -= others[k]
	}
	return crossed(rows, columnMeans(a), columnMeans(b))
}

// estimate is a mean with its standard error and degrees of freedom.
type estimate struct{ mean, err, freedom float64 }

func (e estimate) interval() Interval {
	half := StudentQuantile(0.975, e.freedom) * e.err
	return Interval{e.mean, e.mean - half, e.mean + half}
}

// crossed returns the mean of rows, with the variance added by several lists of column means.
func crossed(rows []float64, columns ...[]float64) estimate {
	if len(rows) == 0 {
		return estimate{math.NaN(), math.NaN(), math.NaN()}
	}
	variance := squareError(rows)
	squares := variance * variance / float64(len(rows)-1)
	for _, list := range columns {
		if len(list) > 1 {
			own := squareError(list)
			variance, squares = variance+own, squares+own*own/float64(len(list)-1)
		}
	}
	freedom := float64(len(rows) - 1)
	if squares > 0 {
		freedom = variance * variance / squares
	}
	return estimate{DividedMean(rows), math.Sqrt(variance), freedom}
}

func rowMeans(rows [][]float64) (means []float64) {
	for _, row := range rows {
		means = append(means, DividedMean(row))
	}
	return means
}

// columnMeans returns the means of columns relative to the means of their rows, so that a column with missing values in
// some rows does not differ from others because of these rows.
func columnMeans(rows [][]float64) (means []float64) {
	var counts []float64
	for _, row := range rows {
		for len(means) < len(row) {
			means, counts = append(means, 0), append(counts, 0)
		}
		middle := DividedMean(row)
		for c, v := range row {
			means[c], counts[c] = means[c]+v-middle, counts[c]+1
		}
	}
	for c := range means {
		means[c] /= counts[c]
	}
	return means
}

// squareError returns the variance of a mean.
func squareError(values []float64) float64 {
	d := Deviation(values)
	return d * d / float64(len(values))
}
