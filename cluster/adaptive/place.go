package adaptive

import "slices"

// rooms holds the free devices of each node.
type rooms []int

// roomsOf returns the devices that allocations leave free.
func roomsOf(w *World, allocations [][]Share) rooms {
	r := make(rooms, w.options.Nodes)
	for k := range r {
		r[k] = w.options.Devices
	}
	for _, shares := range allocations {
		for _, s := range shares {
			r[s.Node] -= s.Devices
		}
	}
	return r
}

// take takes devices from the nodes with the most free devices, the first on a tie.
func (r rooms) take(devices int) (shares []Share) {
	for devices > 0 {
		node := 0
		for k, free := range r {
			if free > r[node] {
				node = k
			}
		}
		n := min(r[node], devices)
		if n == 0 {
			return shares
		}
		r[node] -= n
		devices -= n
		shares = append(shares, Share{node, n})
	}
	return shares
}

// order sorts the indexes of jobs stably by a key.
func order(n int, key func(k int) int) []int {
	places := make([]int, n)
	for k := range places {
		places[k] = k
	}
	slices.SortStableFunc(places, func(a, b int) int { return key(a) - key(b) })
	return places
}
