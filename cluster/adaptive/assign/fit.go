package assign

// fit gives a job its most valuable number of free devices, up to most.
func (s *solver) fit(j, most int) {
	t := &s.tables[j]
	one, several := s.room()
	best, spans, value := 0, false, t.moved[0][0]
	for n := 1; n <= min(most, one, len(t.moved[0])-1); n++ {
		if t.moved[0][n] > value {
			best, spans, value = n, false, t.moved[0][n]
		}
	}
	for n := 2; n <= min(most, several, len(t.moved[1])-1); n++ {
		if t.moved[1][n] > value {
			best, spans, value = n, true, t.moved[1][n]
		}
	}
	switch {
	case t.present >= value && t.devices <= most && s.stay(j):
	case best == 0:
		s.put(j, nil, value)
	case spans:
		s.put(j, s.several(best), value)
	default:
		s.put(j, []Share{{s.tightest(best), best}}, value)
	}
}

// room returns the largest number of free devices on one node, and the sum of free devices over all nodes that may hold
// a part of a multi-node job; the sum is zero if there is only one such node.
func (s *solver) room() (one, several int) {
	nodes := 0
	for node, free := range s.free {
		one = max(one, free)
		if !s.spanner[node] && free > 0 {
			several, nodes = several+free, nodes+1
		}
	}
	if nodes < 2 {
		several = 0
	}
	return one, several
}

// tightest returns the node with the fewest free devices that suffice.
func (s *solver) tightest(devices int) (best int) {
	best = -1
	for node, free := range s.free {
		if free >= devices && (best < 0 || free < s.free[best]) {
			best = node
		}
	}
	return best
}

// several takes devices from as few nodes as possible, but at least two.
func (s *solver) several(devices int) (shares []Share) {
	for devices > 0 {
		best := -1
		for node, free := range s.free {
			if free == 0 || s.spanner[node] {
				continue
			}
			if best < 0 || s.nearer(free, s.free[best], devices) {
				best = node
			}
		}
		n := min(s.free[best], devices)
		if len(shares) == 0 && n == devices {
			n-- // one node would suffice
		}
		shares = append(shares, Share{best, n})
		s.spanner[best] = true // so that it is not found again
		devices -= n
	}
	return shares
}

// nearer reports whether a node with some free devices fits better than another: the tightest node that suffices,
// otherwise the node with the most free devices.
func (s *solver) nearer(free, other, devices int) bool {
	if free >= devices && other >= devices {
		return free < other
	}
	return free > other
}
