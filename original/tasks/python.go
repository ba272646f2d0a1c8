package tasks

import (
	"math/bits"

	"graft/internal/random/twister"
)

// Python generates the random numbers of Python's module random.
type Python struct{ twister.Random }

// NewPython returns a generator with a seed. The seed's 32-bit words, lowest first, are the key of the generator.
func NewPython(seed uint64) *Python {
	key := []uint32{uint32(seed)}
	if high := uint32(seed >> 32); high > 0 {
		key = append(key, high)
	}
	return &Python{*twister.NewByKey(key)}
}

// Bits returns n random bits (1 to 32), as Python's getrandbits does.
func (p *Python) Bits(n int) uint32 { return p.Uint32() >> (32 - n) }

// IntN returns a number from 0 to n-1, as Python's randrange does. Python's choice draws its index in the same way.
// While the drawn bits have a value of n or more, IntN draws new bits. The argument n must be positive.
func (p *Python) IntN(n int) int {
	size := bits.Len(uint(n))
	for {
		if v := int(p.Bits(size)); v < n {
			return v
		}
	}
}
