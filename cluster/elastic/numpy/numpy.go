// Package numpy generates the random numbers of NumPy's legacy generator, RandomState, so that
// workloads of programs that use it can be made again from their seeds.
package numpy

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Constants of MT19937.
const (
	size      = 624
	middle    = 397
	twist     = 0x9908b0df
	upperMask = 0x80000000
	lowerMask = 0x7fffffff
)

// Random is the Mersenne Twister MT19937 (Matsumoto and Nishimura, "Mersenne Twister", ACM TOMACS
// 8, 1998) with NumPy's distributions.
type Random struct {
	state [size]uint32
	next  int
}

// New returns a generator with an integer seed.
func New(seed uint32) *Random {
	r := &Random{next: size}
	r.state[0] = seed
	for k := uint32(1); k < size; k++ {
		last := r.state[k-1]
		r.state[k] = 1812433253*(last^last>>30) + k
	}
	return r
}

// Uint32 returns the next 32 random bits.
func (r *Random) Uint32() uint32 {
	if r.next == size {
		r.fill()
	}
	y := r.state[r.next]
	r.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (r *Random) fill() {
	for k := range r.state {
		y := r.state[k]&upperMask | r.state[(k+1)%size]&lowerMask
		r.state[k] = r.state[(k+middle)%size] ^ y>>1 ^ y&1*twist
	}
	r.next = 0
}

// Float64 returns a number from 0 to below 1 with 53 random bits: rand.
func (r *Random) Float64() float64 {
	a, b := r.Uint32()>>5, r.Uint32()>>6
	return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
}

// Uniform returns a number from low to below high: uniform.
func (r *Random) Uniform(low, high float64) float64 { return low + float64((high-low)*r.Float64()) }

// IntN returns an integer from low to below high: randint. It returns low, and draws nothing, if
// there is only one such integer or none.
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

// Permutation returns the integers from 0 to below n in random order: permutation.
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

// Choice returns k different integers from 0 to below n: choice without replacement. It returns
// all n if k is larger.
func (r *Random) Choice(n, k int) []int { return r.Permutation(n)[:min(k, n)] }

// Poisson returns a number with Poisson distribution: poisson.
func (r *Random) Poisson(mean float64) int { return Poisson(r.Float64, mean) }

// Poisson draws from a Poisson distribution with numbers from 0 to below 1, as NumPy does. It
// returns 0 if the mean is not positive.
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

// MarshalBinary returns the state of the generator; it never fails.
func (r *Random) MarshalBinary() ([]byte, error) {
	text := binary.LittleEndian.AppendUint32(nil, uint32(r.next))
	for _, word := range r.state {
		text = binary.LittleEndian.AppendUint32(text, word)
	}
	return text, nil
}

// UnmarshalBinary restores a state of MarshalBinary.
func (r *Random) UnmarshalBinary(text []byte) error {
	if len(text) != 4*(size+1) || binary.LittleEndian.Uint32(text) > size {
		return fmt.Errorf("restore a random generator: expected %d bytes that MarshalBinary wrote, got %d", 4*(size+1), len(text))
	}
	r.next = int(binary.LittleEndian.Uint32(text))
	for k := range r.state {
		r.state[k] = binary.LittleEndian.Uint32(text[4*(k+1):])
	}
	return nil
}
