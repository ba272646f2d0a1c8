package rewrite

import (
	"math/rand/v2"

	"graft/torch"
)

// usualPart is the number of weights that Partition changes at a time, to save memory.
const usualPart = 1 << 18

// Partition zeroes, in place, all but one of the copies of each weight, so that each weight of a layer that sums over a
// dimension belongs to one copy of a unit, drawn at random. The argument from holds the source of each slice of the
// dimension. A slice without a source, -1, keeps its weights.
//
// The sum over the copies is exactly the original weight, so the network's function stays the same. The copies get
// different gradients, because different outputs read them. If each copy gets a share of every weight instead, as in
// Net2Net (Chen, Goodfellow and Shlens 2016), the gradients of the copies differ at most by a factor, and copies stay
// nearly equal under optimizers that normalise gradients, such as Adam. Samragh and others (HyperCloning, 2024, arXiv
// 2409.12903) break the symmetry by noise of opposite signs.
func Partition(s *torch.Scope, t *torch.Tensor, dim int, from []int, random *rand.Rand) {
	partition(s, t, dim, from, random, usualPart)
}

// partition changes about limit weights at a time, in rows of the first dimension, or all of them if this dimension is
// divided.
func partition(s *torch.Scope, t *torch.Tensor, dim int, from []int, random *rand.Rand, limit int) {
	info, err := t.Info()
	if err != nil {
		return
	}
	rows, size := 1, 1
	for d, n := range info.Shape {
		if d > 0 || dim == 0 {
			size *= n
		}
	}
	if dim > 0 {
		rows = info.Shape[0]
	}
	inner := 1
	for _, n := range info.Shape[dim+1:] {
		inner *= n
	}
	groups, draws := placesOf(from), &coins{random: random}
	for at, step := 0, max(1, limit/size); at < rows; at += step {
		part, length := t, min(step, rows-at)
		if dim > 0 {
			part = s.Narrow(t, 0, at, length)
		}
		shape := append([]int{}, part.Shape()...)
		kept := s.To(torch.From(s, maskOf(length*size, len(from), inner, groups, draws), shape...), info.DType,
			info.Device)
		product := s.Mul(part, kept)
		positive := s.Scale(product, 1, 0) // turns -0 into 0, so that reverting several changes restores the bits
		s.Copy(part, positive)
		s.Free(kept, product, positive)
	}
}

// maskOf draws the copy that keeps each weight: 1 for this copy, and 0 for the others.
func maskOf(count, wide, inner int, groups [][]int, draws *coins) []float32 {
	mask := make([]float32, count)
	for base := 0; base < count; base += wide * inner {
		for _, places := range groups {
			for k := range inner {
				mask[base+places[draws.draw(len(places))]*inner+k] = 1
			}
		}
	}
	return mask
}

// coins draws small numbers. For one of two, the usual case, it takes a single bit.
type coins struct {
	random *rand.Rand
	bits   uint64
	left   int
}

// draw returns a number from 0 to n-1.
func (c *coins) draw(n int) int {
	switch n {
	case 1:
		return 0
	case 2:
		if c.left == 0 {
			c.bits, c.left = c.random.Uint64(), 64
		}
		bit := int(c.bits & 1)
		c.bits, c.left = c.bits>>1, c.left-1
		return bit
	}
	return c.random.IntN(n)
}

// placesOf groups the slices of a dimension by their source. A slice without a source is a group of its own.
func placesOf(from []int) (groups [][]int) {
	group := map[int]int{}
	for k, source := range from {
		at, known := group[source]
		if !known || source < 0 {
			at = len(groups)
			groups, group[source] = append(groups, nil), at
		}
		groups[at] = append(groups[at], k)
	}
	return groups
}
