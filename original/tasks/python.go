package tasks

import (
	"math/bits"

	"graft/internal/random/twister"
)

// Python is the generator of Python's module random.
type Python struct{ twister.Random }

// NewPython returns a generator with a seed, whose 32-bit words are its key, lowest first.
func NewPython(seed uint64) *Python {
	key := []uint32{uint32(seed)}
	if high := uint32(seed >> 32); high > 0 {
		key = append(key, high)
	}
	return &Python{*twister.NewByKey(key)}
}

// Bits returns n random bits, 1 to 32: getrandbits.
func (p *Python) Bits(n int) uint32 { return p.Uint32() >> (32 - n) }

// IntN returns a number from 0 to below n, which is positive: randrange, and the index of a choice. It rejects bits
// that are too large.
func (p *Python) IntN(n int) int {
	size := bits.Len(uint(n))
	for {
		if v := int(p.Bits(size)); v < n {
			return v
		}
	}
}
