package elastic

// Kinds of resources, as indexes of [Resources].
const (
	CPU   = iota
	GPU   // in slots: a device may have several
	Kinds // number of kinds
)

// Resources counts slots of each kind.
type Resources [Kinds]int

// Plus returns the sum of two vectors.
func (r Resources) Plus(other Resources) Resources {
	for k := range r {
		r[k] += other[k]
	}
	return r
}

// Times returns a multiple of the vector.
func (r Resources) Times(n int) Resources {
	for k := range r {
		r[k] *= n
	}
	return r
}

// Sum returns the number of slots over all kinds.
func (r Resources) Sum() (sum int) {
	for _, n := range r {
		sum += n
	}
	return sum
}

// Within reports whether no kind exceeds its limit.
func (r Resources) Within(limit Resources) bool {
	for k := range r {
		if r[k] > limit[k] {
			return false
		}
	}
	return true
}

// DominantShare returns the largest share of a total over the kinds (Ghodsi et al., "Dominant Resource Fairness", NSDI
// 2011). Kinds with a total of zero do not count.
func (r Resources) DominantShare(total Resources) (share float64) {
	for k := range r {
		if total[k] > 0 {
			share = max(share, float64(r[k])/float64(total[k]))
		}
	}
	return share
}
