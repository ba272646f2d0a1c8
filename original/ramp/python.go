package ramp

import (
	"math/bits"

	"graft/internal/random/twister"
)

// python is the generator of Python's module random, seeded with a number.
type python struct{ *twister.Random }

func newPython(seed uint32) python { return python{twister.NewByKey([]uint32{seed})} }

// below draws a number from 0 to n-1.
func (p python) below(n int) int {
	shift := 32 - bits.Len(uint(n))
	for {
		if x := int(p.Uint32() >> shift); x < n {
			return x
		}
	}
}

// shuffle puts n things in a random order.
func (p python) shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, p.below(i+1))
	}
}
