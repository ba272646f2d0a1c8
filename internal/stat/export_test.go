package stat

import "slices"

// LeastSquares returns an x that minimises |Ax - b|. A has at least one row, with one entry per entry of x. The entry
// of a column that depends on previous columns is zero.
func LeastSquares(a [][]float64, b []float64) []float64 {
	columns, norms := unitColumns(a)
	return unscaled(orthogonal(columns, b, slices.Repeat([]bool{true}, len(columns))), norms)
}
