package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A solution satisfies the Karush-Kuhn-Tucker conditions: no entry is negative, positive entries have no gradient, and
// zero entries would not decrease the residual by growing.
func TestNNLSFindsTheLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, columns := rapid.IntRange(1, 12).Draw(t, "rows"), rapid.IntRange(1, 8).Draw(t, "columns")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		a, b := make([][]float64, rows), make([]float64, rows)
		scales := make([]float64, columns)
		for k := range scales {
			scales[k] = math.Pow(10, rapid.Float64Range(-6, 6).Draw(t, "scale"))
		}
		twice := rapid.IntRange(0, columns-1).Draw(t, "a column like the first")
		for i := range a {
			a[i] = make([]float64, columns)
			for k := range a[i] {
				a[i][k] = random.NormFloat64() * scales[k]
			}
			a[i][twice] = a[i][0]
			b[i] = random.NormFloat64()
		}
		x := NonNegative(a, b)
		columnsOf, norms := unitColumns(a)
		scaled := make([]float64, columns)
		for k := range x {
			require.GreaterOrEqual(t, x[k], 0.0)
			scaled[k] = x[k] * norms[k]
		}
		r := residual(columnsOf, scaled, b)
		const rounding = 1e-7
		for k, column := range columnsOf {
			require.LessOrEqual(t, dot(column, r), rounding, "entry %d could grow", k)
			if scaled[k] > 0 {
				require.InDelta(t, 0, dot(column, r), rounding, "entry %d could move", k)
			}
		}
	})
}

func TestNNLSOnKnownProblems(t *testing.T) {
	for name, c := range map[string]struct {
		a    [][]float64
		b, x []float64
	}{
		"an exact solution":   {[][]float64{{1, 2}, {3, 4}, {5, 6}}, []float64{5, 11, 17}, []float64{1, 2}},
		"all at the border":   {[][]float64{{1}, {1}}, []float64{-1, -2}, []float64{0}},
		"one is held at zero": {[][]float64{{1, 0}, {0, 1}}, []float64{3, -4}, []float64{3, 0}},
		"a column of zeros":   {[][]float64{{0, 2}, {0, 2}}, []float64{4, 4}, []float64{0, 2}},
		"columns far apart in scale": {[][]float64{{1e-12, 1e12}, {2e-12, 1e12}}, []float64{3, 4},
			[]float64{1e12, 2e-12}},
	} {
		t.Run(name, func(t *testing.T) {
			got := NonNegative(c.a, c.b)
			for k := range c.x {
				require.InDelta(t, c.x[k], got[k], 1e-9*max(1, c.x[k]))
			}
		})
	}
}
