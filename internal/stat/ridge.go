package stat

// Ridge fits a ridge regression and returns the fitted values (Hoerl, Kennard, Ridge regression, 1970). Each row holds
// the predictors of one value. The argument ridge is the penalty on the squared weights; the intercept is not
// penalised. If columns are linearly dependent, the ridge must be positive for a unique fit. At least one row is
// required, and all rows must have the same width.
func Ridge(rows [][]float64, values []float64, ridge float64) []float64 {
	mean := DividedMean(values)
	width := len(rows[0])
	centre := make([]float64, width)
	for _, row := range rows {
		for k, x := range row {
			centre[k] += x / float64(len(rows))
		}
	}
	normal := make([][]float64, width)
	for i := range normal {
		normal[i] = make([]float64, width+1)
		for r, row := range rows {
			for j := range width {
				normal[i][j] += (row[i] - centre[i]) * (row[j] - centre[j])
			}
			normal[i][width] += (row[i] - centre[i]) * (values[r] - mean)
		}
		normal[i][i] += ridge
	}
	weights := eliminate(normal)
	out := make([]float64, len(rows))
	for r, row := range rows {
		out[r] = mean
		for k, x := range row {
			out[r] += weights[k] * (x - centre[k])
		}
	}
	return out
}

// eliminate solves a symmetric positive definite system, with the right side as the last column, by Gaussian
// elimination; it needs no pivoting.
func eliminate(m [][]float64) []float64 {
	n := len(m)
	for i := range n {
		for j := i + 1; j < n; j++ {
			factor := m[j][i] / m[i][i]
			for k := i; k <= n; k++ {
				m[j][k] -= factor * m[i][k]
			}
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = m[i][n]
		for k := i + 1; k < n; k++ {
			x[i] -= m[i][k] * x[k]
		}
		x[i] /= m[i][i]
	}
	return x
}
