package stat

import "math"

// Constants of Fit.
const (
	firstDamping = 1e-2
	mostDamping  = 1e10
	difference   = 1e-6 // relative step of a derivative
	fitted       = 1e-9 // relative decrease of the sum of squares below which a fit ends
)

// Fit minimises the sum of the squares of residuals, starting from x, in at most the given number of steps (Marquardt,
// An algorithm for least-squares estimation of nonlinear parameters, 1963). It returns the parameters and the sum. The
// number of residuals must not depend on the parameters. A step to residuals that are not finite is not taken.
func Fit(residuals func(x []float64) []float64, x []float64, steps int) ([]float64, float64) {
	x = append([]float64{}, x...)
	at := residuals(x)
	sum, damping := dot(at, at), firstDamping
	for range steps {
		slopes := jacobian(residuals, x, at)
		improved, before := false, sum
		for ; !improved && damping < mostDamping; damping *= 4 {
			next := descend(slopes, at, x, damping)
			r := residuals(next)
			if s := dot(r, r); s < sum {
				x, at, sum, improved = next, r, s, true
				damping /= 40
			}
		}
		if !improved || before-sum <= fitted*before {
			break
		}
	}
	return x, sum
}

// jacobian returns the derivative of all residuals with respect to each parameter.
func jacobian(residuals func(x []float64) []float64, x, at []float64) [][]float64 {
	columns := make([][]float64, len(x))
	for k, value := range x {
		h := difference * math.Max(1, math.Abs(value))
		x[k] = value + h
		columns[k] = residuals(x)
		x[k] = value
		for i := range columns[k] {
			columns[k][i] = (columns[k][i] - at[i]) / h
		}
	}
	return columns
}

// descend returns the parameters after a damped step.
func descend(slopes [][]float64, at, x []float64, damping float64) []float64 {
	n := len(x)
	normal := make([][]float64, n)
	for i := range normal {
		normal[i] = make([]float64, n+1)
		for j := range n {
			normal[i][j] = dot(slopes[i], slopes[j])
		}
		normal[i][i] += damping * math.Max(normal[i][i], 1e-12)
		normal[i][n] = -dot(slopes[i], at)
	}
	step := eliminate(normal)
	next := make([]float64, n)
	for k := range x {
		next[k] = x[k] + step[k]
	}
	return next
}
