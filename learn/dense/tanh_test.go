package dense

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// arguments returns arguments of tanh of all magnitudes and both signs, and special values.
func arguments() (all []float64) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, v := range []float64{0, 5e-324, 1e-310, 1e-17, 19.0615, 19.5, 20, 20.5, 709, 1e10, 0x1p51, 0x1p63,
		math.MaxFloat64, math.Inf(1), math.NaN()} {
		all = append(all, v, -v)
	}
	for range 2000 {
		all = append(all, 25*(2*random.Float64()-1), math.Exp2(700*(2*random.Float64()-1)), 4*random.NormFloat64(),
			random.NormFloat64()/4)
	}
	for n := range 60 { // neighbours of points at which the number of halves of ln 2 changes
		at := (float64(n) + 0.5) / perHalf
		all = append(all, at, math.Nextafter(at, 0), math.Nextafter(at, 30), -at)
	}
	return all
}

// exactTanh computes 1 - 2/(e^2x + 1) in 200 bits, with e^2x from a power series of 2x/1024.
func exactTanh(x float64) *big.Float {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	sum, term, z := number(1), number(1), number(x/512)
	for k := 1.0; k < 20; k++ {
		term.Quo(term.Mul(term, z), number(k))
		sum.Add(sum, term)
	}
	for range 10 {
		sum.Mul(sum, sum)
	}
	return z.Quo(number(0).Sub(sum, number(1)), sum.Add(sum, number(1)))
}

// tanh is within 2.5 units in the last place of the exact value, odd, and equal to math.Tanh for tiny, large and
// special arguments.
func TestTanhIsExactButForRounding(t *testing.T) {
	for _, x := range arguments() {
		got := tanh(x)
		switch size := math.Abs(x); {
		case math.IsNaN(x):
			require.True(t, math.IsNaN(got))
		case size < 1e-9 || size > 30:
			require.Equal(t, math.Float64bits(math.Tanh(x)), math.Float64bits(got), "%g", x)
		default:
			exact := exactTanh(x)
			off, _ := exact.Sub(exact, big.NewFloat(got)).Float64()
			unit := math.Abs(got) - math.Nextafter(math.Abs(got), 0)
			require.LessOrEqual(t, math.Abs(off), 2.5*unit, "%g", x)
			require.Equal(t, -got, tanh(-x))
		}
	}
}

// The vectorized tanh gives the same bits as the scalar tanh.
func TestVectorsOfTanhHaveTheSameBits(t *testing.T) {
	x := arguments()
	for _, length := range []int{0, 1, 3, 4, 7, len(x)} {
		y := make([]float64, length)
		tanhAll(y, x[:length])
		for k, v := range x[:length] {
			if want := tanh(v); v == v {
				require.Equal(t, math.Float64bits(want), math.Float64bits(y[k]), "%g", v)
			} else {
				require.True(t, math.IsNaN(y[k]))
			}
		}
	}
}

func BenchmarkTanh(b *testing.B) {
	x := arguments()
	y := make([]float64, len(x))
	for b.Loop() {
		tanhAll(y, x)
	}
}
