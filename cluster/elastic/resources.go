package elastic

// Kinds of resources, as indexes of [Resources].
const (
	CPU   = iota
	GPU   // GPU slots; a device may have several slots
	Kinds // number of kinds of resources
)

// Resources counts the slots of each kind of resource.
type Resources [Kinds]int

// Plus returns the sum of two vectors.
func (r Resources) Plus(other Resources) Resources {
	for k := range r {
		r[k] += other[k]
	}
	return r
}

// Times returns the vector multiplied by n.
func (r Resources) Times(n int) Resources {
	for k := range r {
		r[k] *= n
	}
	return r
}

// Sum returns the total number of slots of all kinds.
func (r Resources) Sum() (sum int) {
	for _, n := range r {
		sum += n
	}
	return sum
}

// Within reports whether every kind of resource is within its limit.
func (r Resources) Within(limit Resources) bool {
	for k := range r {
		if r[k] > limit[k] {
			return false
		}
	}
	return true
}

// DominantShare returns the maximum of r[k]/total[k] over all kinds k of resources (Ghodsi et al., "Dominant Resource
// Fairness", NSDI 2011). Kinds with a total of zero are ignored.
func (r Resources) DominantShare(total Resources) (share float64) {
	for k := range r {
		if total[k] > 0 {
			share = max(share, float64(r[k])/float64(total[k]))
		}
	}
	return share
}
