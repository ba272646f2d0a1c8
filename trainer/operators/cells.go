package operators

import "slices"

// cells divides points so that the distance from another point is computed once for all points of a cell in the
// dimensions that have few values, such as the stride of a convolution.
type cells struct {
	equal       []int // dimensions in which all points are equal
	shared, own []int // dimensions with few values, and the others
	first       point
	all         []cell
	coordinates []float64             // own coordinates, point by point, in the order of the cells
	weights     [][pointTimes]float64 // of the points, in the order of the cells
}

// cell holds points whose shared coordinates are equal.
type cell struct {
	shared   []float64
	from, to int // indices of the points
}

// fewValues is the largest number of values of a shared dimension.
const fewValues = 6

// newCells divides points with their weights.
func newCells(points []point, weights [][pointTimes]float64) *cells {
	c := &cells{first: points[0]}
	for d := range dimensions {
		values := map[float64]bool{}
		for k := range points {
			values[points[k][d]] = true
		}
		switch {
		case len(values) == 1:
			c.equal = append(c.equal, d)
		case len(values) <= fewValues:
			c.shared = append(c.shared, d)
		default:
			c.own = append(c.own, d)
		}
	}
	order := make([]int, len(points))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return slices.Compare(pick(points[a], c.shared), pick(points[b], c.shared))
	})
	for _, k := range order {
		shared := pick(points[k], c.shared)
		if last := len(c.all) - 1; last < 0 || !slices.Equal(c.all[last].shared, shared) {
			c.all = append(c.all, cell{shared: shared, from: len(c.weights)})
		}
		c.weights = append(c.weights, weights[k])
		c.coordinates = append(c.coordinates, pick(points[k], c.own)...)
		c.all[len(c.all)-1].to = len(c.weights)
	}
	return c
}

// pick returns the coordinates of a point in some dimensions.
func pick(p point, of []int) (all []float64) {
	for _, d := range of {
		all = append(all, p[d])
	}
	return all
}

// masked is a power of two above the number of dimensions, so that masked indices need no check.
const masked = 32

// sums returns the sums of the weights of all points, multiplied by the correlations with another point.
func (c *cells) sums(at *point) (sums [pointTimes]float64) {
	equal := 0.0
	for _, d := range c.equal {
		equal += (at[d] - c.first[d]) * (at[d] - c.first[d])
	}
	var own [masked]float64
	for k, d := range c.own {
		own[k] = at[d]
	}
	count := len(c.own)
	for i := range c.all {
		near := &c.all[i]
		base := equal
		for k, d := range c.shared {
			base += (at[d] - near.shared[k]) * (at[d] - near.shared[k])
		}
		weights, rest := c.weights[near.from:near.to], c.coordinates[near.from*count:near.to*count]
		for k := range weights {
			squared := base
			for d, v := range rest[:count] {
				away := own[d&(masked-1)] - v
				squared += away * away
			}
			rest = rest[count:]
			close, w := correlation(squared), &weights[k]
			sums[0], sums[1], sums[2] = sums[0]+close*w[0], sums[1]+close*w[1], sums[2]+close*w[2]
		}
	}
	return sums
}
