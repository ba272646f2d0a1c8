package rewrite

import (
	"math/rand/v2"
	"slices"

	"graft/torch"
)

// Partition zeroes all but one of the copies of each weight, so that each weight of a layer that sums over a dimension
// belongs to one copy of a unit, drawn at random. The argument from holds the source of each slice of the dimension. A
// slice without a source, -1, keeps its weights.
//
// The sum over the copies is exactly the original weight, so the network's function stays the same. The copies get
// different gradients, because different outputs read them. If each copy gets a share of every weight instead, as in
// Net2Net (Chen, Goodfellow and Shlens 2016), the gradients of the copies differ at most by a factor, and copies stay
// nearly equal under optimizers that normalise gradients, such as Adam. Samragh and others (HyperCloning, 2024, arXiv
// 2409.12903) break the symmetry by noise of opposite signs.
func Partition(s *torch.Scope, t *torch.Tensor, dim int, from []int, random *rand.Rand) *torch.Tensor {
	info, err := t.Info()
	if err != nil {
		return t
	}
	outer, inner := 1, 1
	for d, n := range info.Shape {
		if d < dim {
			outer *= n
		} else if d > dim {
			inner *= n
		}
	}
	mask := make([]float32, outer*len(from)*inner)
	for _, places := range placesOf(from) {
		for i := range outer {
			for k := range inner {
				mask[(i*len(from)+places[random.IntN(len(places))])*inner+k] = 1
			}
		}
	}
	return s.Mul(t, s.To(torch.From(s, mask, info.Shape...), info.DType, info.Device))
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
	return slices.Clip(groups)
}
