// Package twister generates the random bits of MT19937, to reproduce the draws of programs that use it, given their
// seeds. NumPy's distributions are in internal/random/numpy, and the distributions of Python's module random are in
// original/tasks.
package twister

import (
	"encoding/binary"
	"fmt"
)

// Constants of the MT19937 algorithm.
const (
	size      = 624
	middle    = 397
	twist     = 0x9908b0df
	upperMask = 0x80000000
	lowerMask = 0x7fffffff
)

// Random is the Mersenne Twister MT19937 (Matsumoto and Nishimura, "Mersenne Twister", ACM TOMACS 8, 1998). The zero
// value is not seeded.
type Random struct {
	state [size]uint32
	next  int
}

// New returns a generator seeded with an integer.
func New(seed uint32) *Random {
	r := &Random{next: size}
	r.state[0] = seed
	for k := uint32(1); k < size; k++ {
		r.state[k] = 1812433253*r.mix(k) + k
	}
	return r
}

// NewByKey returns a generator with a seed of any length, like init_by_array in the authors' program mt19937ar.c of
// 2002. An empty key is treated as a key with a single zero.
func NewByKey(key []uint32) *Random {
	if len(key) == 0 {
		key = []uint32{0}
	}
	r, at := New(19650218), uint32(1)
	step := func(factor, add uint32) {
		r.state[at] = (r.state[at] ^ r.mix(at)*factor) + add
		if at++; at == size {
			r.state[0], at = r.state[size-1], 1
		}
	}
	for k := range max(size, len(key)) {
		place := k % len(key)
		step(1664525, key[place]+uint32(place))
	}
	for range size - 1 {
		step(1566083941, -at)
	}
	r.state[0] = upperMask
	return r
}

// mix joins the high and low bits of the word before an index.
func (r *Random) mix(k uint32) uint32 { return r.state[k-1] ^ r.state[k-1]>>30 }

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

// Float64 returns a number from 0, inclusive, to 1, exclusive, with 53 random bits, like rand of NumPy and random of
// Python.
func (r *Random) Float64() float64 {
	a, b := r.Uint32()>>5, r.Uint32()>>6
	return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
}

// Uniform returns a number from low to high, like NumPy's uniform.
func (r *Random) Uniform(low, high float64) float64 { return low + float64((high-low)*r.Float64()) }

// MarshalBinary returns the state of the generator. It never fails.
func (r *Random) MarshalBinary() ([]byte, error) {
	text := binary.LittleEndian.AppendUint32(nil, uint32(r.next))
	for _, word := range r.state {
		text = binary.LittleEndian.AppendUint32(text, word)
	}
	return text, nil
}

// UnmarshalBinary restores a state that MarshalBinary returned.
func (r *Random) UnmarshalBinary(text []byte) error {
	if len(text) != 4*(size+1) || binary.LittleEndian.Uint32(text) > size {
		return fmt.Errorf("restore a random generator: expected %d bytes written by MarshalBinary, got %d", 4*(size+1),
			len(text))
	}
	r.next = int(binary.LittleEndian.Uint32(text))
	for k := range r.state {
		r.state[k] = binary.LittleEndian.Uint32(text[4*(k+1):])
	}
	return nil
}
