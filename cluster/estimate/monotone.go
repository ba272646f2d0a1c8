package estimate

// isotonic replaces values by the nearest sequence in weighted squares that never falls, or with way -1 never rises: it
// pools neighbours that are out of order (Ayer, Brunk, Ewing, Reid, Silverman 1955). A value with weight zero follows
// its neighbours.
func isotonic(values, weights []float64, way int) {
	type pool struct {
		value, weight float64
		size          int
	}
	const nothing = 1e-9 // replaces a weight of zero: far below the weight of a row
	sign := float64(way)
	var pools []pool
	for k, v := range values {
		p := pool{value: sign * v, weight: max(weights[k], nothing), size: 1}
		for len(pools) > 0 && pools[len(pools)-1].value > p.value {
			before := pools[len(pools)-1]
			weight := before.weight + p.weight
			p = pool{(before.value*before.weight + p.value*p.weight) / weight, weight, before.size + p.size}
			pools = pools[:len(pools)-1]
		}
		pools = append(pools, p)
	}
	at := 0
	for _, p := range pools {
		for range p.size {
			values[at] = sign * p.value
			at++
		}
	}
}
