package stat

import (
	"math"
	"slices"
)

// NonNegative returns the vector x without negative entries that minimises |Ax - b|. The matrix A must have at least
// one row, and each row has one column per entry of x. It uses the algorithm NNLS of Lawson and Hanson, Solving Least
// Squares Problems (1974), chapter 23. Entries become positive one by one, the entry with the steepest descent first.
// An entry that would become negative is set to zero again.
func NonNegative(a [][]float64, b []float64) []float64 {
	columns, norms := unitColumns(a)
	n := len(columns)
	x, free := make([]float64, n), make([]bool, n)
	barred := make([]bool, n) // rounding drove the entry back to zero at once
	for range 3 * n {         // the limit of the authors' program
		k := steepest(columns, residual(columns, x, b), free, barred)
		if k < 0 {
			break
		}
		free[k] = true
		x = inside(columns, b, x, free)
		barred[k] = !free[k]
	}
	return unscaled(x, norms)
}

// unscaled converts the solution for columns of unit length to the solution for columns of these lengths.
func unscaled(x, norms []float64) []float64 {
	for k := range x {
		if norms[k] > 0 {
			x[k] /= norms[k]
		}
	}
	return x
}

// unitColumns returns the columns of a, each divided by its length, and the lengths:
// entries may differ by many powers of ten between columns.
func unitColumns(a [][]float64) ([][]float64, []float64) {
	columns, norms := make([][]float64, len(a[0])), make([]float64, len(a[0]))
	for k := range columns {
		for _, row := range a {
			columns[k] = append(columns[k], row[k])
			norms[k] = math.Hypot(norms[k], row[k])
		}
		for i := range columns[k] {
			if norms[k] > 0 {
				columns[k][i] /= norms[k]
			}
		}
	}
	return columns, norms
}

func residual(columns [][]float64, x, b []float64) []float64 {
	r := slices.Clone(b)
	for k, column := range columns {
		for i, v := range column {
			r[i] -= v * x[k]
		}
	}
	return r
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for k := range a {
		sum += a[k] * b[k]
	}
	return sum
}

// flat is the fraction of the residual below which a descent is a rounding error.
const flat = 1e-11

// steepest returns the zero entry whose growth reduces the residual most; -1 if none does.
func steepest(columns [][]float64, r []float64, free, barred []bool) int {
	best, most := -1, flat*math.Sqrt(dot(r, r))
	for k, column := range columns {
		if d := dot(column, r); !free[k] && !barred[k] && d > most {
			best, most = k, d
		}
	}
	return best
}

// inside returns the least squares solution over the free entries. If one of its entries is not positive, it moves from
// x towards the solution until entries reach zero, fixes those at zero, and solves again.
func inside(columns [][]float64, b, x []float64, free []bool) []float64 {
	for {
		s := orthogonal(columns, b, free)
		step := 1.0
		for k := range s {
			if free[k] && s[k] <= 0 {
				step = min(step, meets(x[k], s[k]))
			}
		}
		held := false
		next := make([]float64, len(x))
		for k := range x {
			switch {
			case free[k] && s[k] <= 0 && meets(x[k], s[k]) <= step:
				free[k], held = false, true
			case free[k]:
				next[k] = x[k] + step*(s[k]-x[k])
			}
		}
		if !held {
			return s
		}
		x = next
	}
}

// meets returns the fraction of the way from an entry to a non-positive solution at which the entry reaches zero.
func meets(x, s float64) float64 {
	if x <= 0 {
		return 0
	}
	return x / (x - s)
}

// orthogonal returns the least squares solution over the free entries, with the others zero, by modified Gram-Schmidt
// with b as a last column (Björck, Solving linear least squares problems by Gram-Schmidt orthogonalization, 1967). The
// entry of a column that depends on earlier columns is zero.
func orthogonal(columns [][]float64, b []float64, free []bool) []float64 {
	var at []int
	var q [][]float64
	for k, column := range columns {
		if free[k] {
			at, q = append(at, k), append(q, slices.Clone(column))
		}
	}
	n, rest := len(at), slices.Clone(b)
	r, right := make([][]float64, n), make([]float64, n)
	for k := range q {
		r[k] = make([]float64, n)
		if r[k][k] = math.Sqrt(dot(q[k], q[k])); r[k][k] < dependent {
			r[k][k] = 0
			continue
		}
		scale(q[k], 1/r[k][k])
		for j := k + 1; j < n; j++ {
			r[k][j] = dot(q[k], q[j])
			subtract(q[j], q[k], r[k][j])
		}
		right[k] = dot(q[k], rest)
		subtract(rest, q[k], right[k])
	}
	x := make([]float64, len(columns))
	for k := n - 1; k >= 0; k-- {
		if r[k][k] == 0 {
			continue
		}
		for j := k + 1; j < n; j++ {
			right[k] -= r[k][j] * x[at[j]]
		}
		x[at[k]] = right[k] / r[k][k]
	}
	return x
}

// dependent is the length below which the rest of a unit column, orthogonal to earlier columns, is a rounding error.
const dependent = 1e-10

func scale(v []float64, by float64) {
	for k := range v {
		v[k] *= by
	}
}

// subtract subtracts times w from v.
func subtract(v, w []float64, times float64) {
	for k := range v {
		v[k] -= times * w[k]
	}
}
