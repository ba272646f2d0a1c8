package stat

import "math"

// Cholesky is the lower half of the factor of a symmetric positive definite matrix: row k has k+1 entries.
type Cholesky [][]float64

// NewCholesky decomposes a symmetric positive definite matrix in place. The matrix is given by its lower half.
func NewCholesky(a [][]float64) Cholesky {
	for k, row := range a {
		for j, other := range a[:k+1] {
			sum := row[j]
			for i := range j {
				sum -= row[i] * other[i]
			}
			if j == k {
				row[k] = math.Sqrt(sum)
			} else {
				row[j] = sum / other[j]
			}
		}
	}
	return a
}

// Solve replaces x by the solution of the system with the matrix and the right-hand side x.
func (l Cholesky) Solve(x []float64) {
	for k := range x {
		for i := range k {
			x[k] -= l[k][i] * x[i]
		}
		x[k] /= l[k][k]
	}
	for k := len(x) - 1; k >= 0; k-- {
		for i := k + 1; i < len(x); i++ {
			x[k] -= l[i][k] * x[i]
		}
		x[k] /= l[k][k]
	}
}

// Inverse returns the lower half of the matrix's inverse.
func (l Cholesky) Inverse() [][]float64 {
	inverse, columns := make([][]float64, len(l)), l.inverseFactor()
	for k := range inverse {
		inverse[k] = make([]float64, k+1)
		for j := range inverse[k] {
			for i := k; i < len(l); i++ {
				inverse[k][j] += columns[k][i-k] * columns[j][i-j]
			}
		}
	}
	return inverse
}

// inverseFactor returns the columns of the factor's inverse; column k begins in row k.
func (l Cholesky) inverseFactor() [][]float64 {
	columns := make([][]float64, len(l))
	for c := range columns {
		column := make([]float64, len(l)-c)
		column[0] = 1 / l[c][c]
		for r := c + 1; r < len(l); r++ {
			sum := 0.0
			for k, v := range l[r][c:r] {
				sum += v * column[k]
			}
			column[r-c] = -sum / l[r][r]
		}
		columns[c] = column
	}
	return columns
}
