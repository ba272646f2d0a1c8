package genetic

// passes is the maximum number of attempts to make enough offspring.
const passes = 101

// mate makes offspring that differ from the population and from each other.
func (s *search) mate() {
	clear(s.known)
	for _, slot := range s.pop {
		place, _ := s.find(s.at(slot), s.hashes[slot])
		s.known[place] = slot + 1
	}
	for pass := 0; pass < passes && len(s.young) < s.most; pass++ {
		matings := (s.most - len(s.young) + 1) / 2
		s.choose(matings)
		s.cross(matings)
		children := 2 * matings
		s.mutate(children)
		s.draw.repairs(children, len(s.p.Jobs), s.p.Nodes)
		for k := range children {
			s.repair(s.state(k), k)
			if len(s.young) < s.most {
				s.admit(s.state(k))
			}
		}
	}
}

// choose picks two parents for each mating, by tournaments of two.
func (s *search) choose(matings int) {
	s.picks = s.picks[:0]
	for len(s.picks) < 4*matings {
		from := len(s.picks)
		for k := range s.pop {
			s.picks = append(s.picks, int32(k))
		}
		s.draw.shuffle(s.picks[from:])
	}
	s.parents = s.parents[:0]
	for k := 0; k < 4*matings; k += 2 {
		s.parents = append(s.parents, s.pop[s.winner(s.picks[k], s.picks[k+1])])
	}
}

// winner returns the better of two members of the population.
func (s *search) winner(a, b int32) int32 {
	first, second := s.pop[a], s.pop[b]
	switch {
	case s.scores[first].dominates(s.scores[second]):
		return a
	case s.scores[second].dominates(s.scores[first]):
		return b
	case s.crowds[first] > s.crowds[second]:
		return a
	case s.crowds[second] > s.crowds[first]:
		return b
	}
	return s.draw.either(a, b)
}

// cross fills the batch with the children of each mating, which swaps the rows of some jobs. All first children precede
// all second children.
func (s *search) cross(matings int) {
	for len(s.points) < matings {
		s.points = append(s.points, 0)
	}
	s.draw.cross(s.points[:matings], len(s.p.Jobs))
	for k := range matings {
		a, b := s.at(s.parents[2*k]), s.at(s.parents[2*k+1])
		first, second := s.state(k), s.state(matings+k)
		at := int(s.points[k]) * s.p.words
		copy(first[:at], b[:at])
		copy(first[at:], a[at:])
		copy(second[:at], a[:at])
		copy(second[at:], b[at:])
	}
}

// mutate changes children: some rows return to the current allocation, some lose devices, and free devices go to random
// jobs.
func (s *search) mutate(children int) {
	n, nodes, words := children*len(s.p.Jobs), s.p.Nodes, s.p.words
	s.hits = s.draw.rows(s.hits[:0], n)
	for _, row := range s.hits {
		copy(s.batch[int(row)*words:(int(row)+1)*words], s.p.row(s.p.base, int(row)%len(s.p.Jobs)))
	}
	s.marked = s.draw.rows(s.marked[:0], n)
	s.hits = s.draw.bytes(s.hits[:0], s.marked, n, nodes)
	for _, at := range s.hits {
		row := int(at) / nodes * words
		setByte(s.batch[row:row+words], int(at)%nodes, 0)
	}
	s.draw.raise(s, children)
}

// openings determines for each node of a state whether devices are free, and the number of its jobs.
func (s *search) openings(state []uint64) {
	copy(s.free, s.p.ends)
	clear(s.holders)
	for k := range s.p.Jobs {
		for i, word := range s.p.row(state, k) {
			s.free[i] -= least(word, s.free[i])
			s.holders[i] += positive(word) >> 7
		}
	}
	for i, free := range s.free {
		s.open[i] = positive(free)
	}
}
