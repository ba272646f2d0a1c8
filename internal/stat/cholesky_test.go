package stat

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A random positive definite matrix, multiplied by its solution and by its inverse, gives the right-hand side and the
// unit matrix.
func TestCholesky(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 12 {
		full, x := make([][]float64, n), make([]float64, n)
		for k := range full {
			x[k], full[k] = random.NormFloat64(), make([]float64, n)
			for j := range full[k] {
				full[k][j] = random.NormFloat64()
			}
		}
		square, lower := make([][]float64, n), make([][]float64, n)
		for k := range n {
			square[k] = make([]float64, n)
			for j := range n {
				for i := range n {
					square[k][j] += full[k][i] * full[j][i]
				}
			}
			square[k][k] += 0.1
			lower[k] = slices.Clone(square[k][:k+1])
		}
		l := NewCholesky(lower)
		solved, inverse := slices.Clone(x), l.Inverse()
		l.Solve(solved)
		for k := range n {
			sum := 0.0
			for j := range n {
				sum += square[k][j] * solved[j]
				unit := 0.0
				for i := range n {
					unit += square[k][i] * inverse[max(i, j)][min(i, j)]
				}
				want := 0.0
				if j == k {
					want = 1
				}
				require.InDelta(t, want, unit, 1e-9)
			}
			require.InDelta(t, x[k], sum, 1e-9)
		}
	}
}
