// Package numpy generates the random numbers of NumPy's legacy generator, RandomState, to reproduce the workloads of
// programs that use it, given their seeds.
package numpy

import (
	"math"

	"graft/internal/random/twister"
)

// Random is the Mersenne Twister with NumPy's distributions. NormFloat64 draws numbers in pairs; the binary state omits
// the second number of a pair if it has not been used yet.
type Random struct {
	twister.Random
	waiting bool    // normal is the next number
	normal  float64 // second number of the last pair
}

// New returns a generator seeded with an integer.
func New(seed uint32) *Random { return &Random{Random: *twister.New(seed)} }

// NormFloat64 returns a standard normal number, like NumPy's randn. It draws pairs by the polar method (Marsaglia and
// Bray, "A convenient method for generating normal variables", SIAM Review 6, 1964).
func (r *Random) NormFloat64() float64 {
	if r.waiting {
		r.waiting = false
		return r.normal
	}
	for {
		x, y := float64(2*r.Float64())-1, float64(2*r.Float64())-1
		square := float64(x*x) + float64(y*y)
		if square >= 1 || square == 0 {
			continue
		}
		scale := math.Sqrt(-2 * logarithm(square) / square)
		r.waiting, r.normal = true, scale*x
		return scale * y
	}
}

// IntN returns an integer from low to high-1, like NumPy's randint. If high is at most low+1, it returns low and draws
// nothing.
func (r *Random) IntN(low, high int) int {
	if high-low <= 1 {
		return low
	}
	return low + int(r.upTo(uint32(high-low-1)))
}

// upTo draws an integer from 0 to a limit by rejection of masked bits.
func (r *Random) upTo(limit uint32) uint32 {
	mask := limit
	for shift := 1; shift < 32; shift *= 2 {
		mask |= mask >> shift
	}
	for {
		if x := r.Uint32() & mask; x <= limit {
			return x
		}
	}
}

// Permutation returns the integers from 0 to n-1 in random order, like NumPy's permutation.
func (r *Random) Permutation(n int) []int {
	list := make([]int, n)
	for k := range list {
		list[k] = k
	}
	for k := n - 1; k > 0; k-- {
		other := r.upTo(uint32(k))
		list[k], list[other] = list[other], list[k]
	}
	return list
}

// Choice returns k different integers from 0 to n-1, like NumPy's choice without replacement. If k is larger than n, it
// returns all n.
func (r *Random) Choice(n, k int) []int { return r.Permutation(n)[:min(k, n)] }

// Poisson returns a number with a Poisson distribution, like NumPy's poisson.
func (r *Random) Poisson(mean float64) int { return Poisson(r.Float64, mean) }

// Poisson draws from a Poisson distribution with NumPy's method. The function uniform must return numbers from 0,
// inclusive, to 1, exclusive. Poisson returns 0 if the mean is not positive.
func Poisson(uniform func() float64, mean float64) int {
	switch {
	case !(mean > 0):
		return 0
	case mean < 10:
		return multiplied(uniform, mean)
	}
	return rejected(uniform, mean)
}

// multiplied counts the factors until their product falls to exp(-mean) (Knuth, "The Art of
// Computer Programming", volume 2, section 3.4.1).
func multiplied(uniform func() float64, mean float64) (n int) {
	limit, product := math.Exp(-mean), uniform()
	for product > limit {
		product *= uniform()
		n++
	}
	return n
}

// rejected is the algorithm PTRS (Hörmann, "The transformed rejection method for generating
// Poisson random variables", Insurance: Mathematics and Economics 12, 1993).
func rejected(uniform func() float64, mean float64) int {
	logMean := math.Log(mean)
	b := 0.931 + float64(2.53*math.Sqrt(mean))
	a := -0.059 + float64(0.02483*b)
	inverseAlpha := 1.1239 + 1.1328/(b-3.4)
	accept := 0.9277 - 3.6224/(b-2)
	for {
		u := uniform() - 0.5
		v := uniform()
		us := 0.5 - math.Abs(u)
		k := math.Floor(float64((2*a/us+b)*u) + mean + 0.43)
		switch {
		case us >= 0.07 && v <= accept:
			return int(k)
		case k < 0 || us < 0.013 && v > us:
			continue
		}
		logFactorial, _ := math.Lgamma(k + 1)
		if math.Log(v)+math.Log(inverseAlpha)-math.Log(a/float64(us*us)+b) <= float64(k*logMean)-mean-logFactorial {
			return int(k)
		}
	}
}
