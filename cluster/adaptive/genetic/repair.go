package genetic

import "math/bits"

// repair makes a state satisfy the limits of nodes and of jobs; which is its index in the batch.
func (s *search) repair(state []uint64, which int) {
	p := s.p
	if !p.Mixed {
		s.separate(state)
	}
	copy(s.free, p.ends)
	for k := range p.Jobs {
		row := p.row(state, k)
		if _, devices := count(row); devices > p.Jobs[k].Most {
			s.bound(row, k, which)
		}
		for i, word := range row {
			word = least(word, s.free[i])
			row[i] = word
			s.free[i] -= word
		}
	}
}

// bound removes devices of a job above its maximum, from nodes in random order.
func (s *search) bound(row []uint64, k, which int) {
	s.order = appendMarked(s.order[:0], row)
	left := uint64(s.p.Jobs[k].Most)
	for place := range s.order {
		if left > 0 {
			s.draw.pick(s.order, place, which, k)
		}
		node := int(s.order[place])
		devices := min(byteAt(row, node), left)
		setByte(row, node, devices)
		left -= devices
	}
}

// separate keeps at most one multi-node job on each node; earlier jobs stay.
func (s *search) separate(state []uint64) {
	p := s.p
	clear(s.taken)
	clear(s.closed)
	for k := range p.Jobs {
		row := p.row(state, k)
		nodes, _ := count(row)
		if nodes < 2 && !p.Neighbour {
			continue
		}
		left := 0
		for i, word := range row {
			s.held[i] = 0
			if nodes > 1 {
				s.held[i] = positive(word)
			}
			lost := s.held[i] & s.taken[i]
			if p.Neighbour {
				s.closed[i] |= lost
				lost = s.closed[i]
			}
			row[i] = word &^ whole(lost)
			left += bits.OnesCount64(positive(row[i]))
		}
		if p.Incoming || left > 1 {
			for i, held := range s.held {
				s.taken[i] |= held
			}
		}
	}
}
