package dense

import "math"

// Constants of the approximation of tanh.
const (
	farTanh  = 20                    // arguments above this have a tanh of one
	perHalf  = 2 / math.Ln2          // number of halves of ln 2 in one
	rounding = 1.5 * (1 << mantissa) // added to a small number, rounds it to an integer in the last bits
	halfHigh = 0x1.62e42feep-2       // half of ln 2, with few bits so that multiples are exact
	halfLow  = math.Ln2/2 - halfHigh // remainder of half of ln 2
	mantissa = 52                    // bits of a float64
)

// tanh is the hyperbolic tangent, with an error below 2.5 units in the last place. It splits the argument into n halves
// of ln 2, with a tangent of (2^n-1)/(2^n+1), and a remainder. The tangent of the remainder is the sixth convergent of
// Lambert's continued fraction (Mémoire sur quelques propriétés remarquables des quantités transcendentes, 1768). The
// addition theorem combines both.
func tanh(x float64) float64 {
	y := math.Abs(x)
	if y > farTanh {
		y = farTanh
	}
	shifted := float64(y*perHalf) + rounding
	n := shifted - rounding
	power := math.Float64frombits(math.Float64bits(shifted)<<mantissa + math.Float64bits(1))
	r := y - float64(n*halfHigh) - float64(n*halfLow)
	u := float64(r * r)
	over := float64((float64((u+210)*u)+4725)*u) + 10395
	t := r - float64(r*((float64((u+189)*u)+3465)*u/over))
	y = (float64((power+1)*t) + (power - 1)) / (float64((power-1)*t) + (power + 1))
	return math.Copysign(y, x)
}

// tanhTable holds the constants of tanh for four values at once, in the order of tanhFours.
var tanhTable = func() (table [12][4]float64) {
	for k, v := range [12]float64{math.Float64frombits(math.MaxInt64), farTanh, perHalf, rounding, halfHigh, halfLow, 1,
		189, 3465, 210, 4725, 10395} {
		table[k] = [4]float64{v, v, v, v}
	}
	return table
}()

// tanhAll sets y to the tangents of x, which has the same length.
func tanhAll(y, x []float64) {
	if vectors && len(x) >= 4 {
		fours := len(x) / 4
		tanhFours(&y[:len(x)][0], &x[0], fours, &tanhTable)
		x, y = x[4*fours:], y[4*fours:]
	}
	for k, v := range x {
		y[k] = tanh(v)
	}
}
