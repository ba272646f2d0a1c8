package fabric

import (
	"math"
	"slices"
)

// shape is a block's extent over groups, racks and servers; diagonal blocks have -1 servers.
type shape [3]int

// factorPairs lists the pairs of factors of n, larger first factors first.
func factorPairs(n int) (pairs [][2]int) {
	for k := 1; k <= n; k++ {
		if n%k == 0 {
			pairs = append(pairs, [2]int{n / k, k})
		}
	}
	return pairs
}

// shapes lists the blocks of n servers that RAMP's rules allow, in the order of trial: equally many groups and racks,
// then one rack in each group, then along racks and servers.
func (r *Ramp) shapes(n int) (list []shape) {
	for _, pair := range factorPairs(n) {
		a, b := pair[0], pair[1]
		if root := int(math.Sqrt(float64(a))); root*root == a && root <= r.Groups && root <= r.Racks && b <= r.Servers {
			list = append(list, shape{root, root, b})
		}
		if a <= r.Groups && a <= r.Racks && b <= r.Servers {
			list = append(list, shape{a, 1, b}, shape{a, b, 1})
		}
	}
	return list
}

// Fits reports whether an empty network has a block of n servers, a set of servers that follows RAMP's placement rules.
func (r *Ramp) Fits(n int) bool { return n == 1 || len(r.shapes(n)) > 0 }

// Block finds the first block of n servers for which the function use returns true. It appends the block to the list
// "into" and returns the list, or nil if there is no such block.
func (r *Ramp) Block(n int, use func(server int) bool, into []int) []int {
	if n > r.Size() {
		return nil
	}
	into = slices.Grow(into, n)
	for _, s := range append(r.shapes(n), shape{n, n, -1}, shape{n, 1, 1}) {
		if block := r.first(s, use, into); block != nil {
			return block
		}
	}
	return nil
}

// first tries the positions of a shape: by group, then rack, then server.
func (r *Ramp) first(s shape, use func(server int) bool, into []int) []int {
	for i := 0; i <= r.Groups-s[0]; i++ {
		for j := 0; j <= r.Racks-s[1]; j++ {
			for k := 0; k <= r.Servers-max(s[2], 1); k++ {
				if block := r.block(s, i, j, k, use, into); block != nil {
					return block
				}
			}
		}
	}
	return nil
}

// block returns the servers of a shape at a position if all are usable.
func (r *Ramp) block(s shape, i, j, k int, use func(server int) bool, into []int) []int {
	block := into
	add := func(i, j, k int) bool {
		server := (i%r.Groups*r.Racks+j%r.Racks)*r.Servers + k%r.Servers
		block = append(block, server)
		return use(server)
	}
	if s[2] < 0 {
		for m := range s[0] {
			if !add(i+m, j+m, k) {
				return nil
			}
		}
		return block
	}
	for c := range s[0] {
		for d := range s[1] {
			for e := range s[2] {
				if !add(i+c, j+d, k+e) {
					return nil
				}
			}
		}
	}
	return block
}
