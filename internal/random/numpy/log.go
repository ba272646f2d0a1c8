package numpy

import (
	"math"
	"math/big"
)

// Precision with which logarithms are computed before they are rounded.
const (
	logBits  = 96
	logTerms = 20 // the next term is below 2^-96 for a square of at most 0.0295
)

var ln2, _ = new(big.Float).SetPrec(logBits).SetString("0.69314718055994530941723212145817656807550013436")

// logarithm is a correctly rounded math.Log, because the last bit of math.Log depends on the processor. It sums the
// series of the inverse hyperbolic tangent (Abramowitz and Stegun, 4.1.27).
func logarithm(x float64) float64 {
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 {
		fraction, exponent = 2*fraction, exponent-1
	}
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(logBits).SetFloat64(v) }
	s := number(fraction - 1)
	s.Quo(s, new(big.Float).SetPrec(logBits).Add(number(fraction), number(1)))
	square, sum := number(0).Mul(s, s), number(0)
	for k := logTerms; k >= 0; k-- {
		sum.Add(sum.Mul(sum, square), number(0).Quo(number(1), number(float64(2*k+1))))
	}
	sum.Mul(sum, s.Mul(s, number(2)))
	y, _ := sum.Add(sum, number(0).Mul(ln2, number(float64(exponent)))).Float64()
	return y
}
