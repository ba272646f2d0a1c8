package genetic

import (
	"math/rand/v2"
	"slices"
)

// Options holds the limits of a genetic search.
type Options struct {
	Population  int // number of states per generation, at least one
	Generations int // number of generations, at least one; the given states form the first generation
}

// Member is a state (an allocation for all jobs) in the final generation, with its objective values.
type Member struct {
	Rows []byte  // devices of each job on each node, job by job
	Rank int     // Pareto rank: 0 if no other member dominates this one
	Fair float64 // power mean of the speedups, the fairness objective
	Use  float64 // speedup per device on the nodes with work, the utilisation objective
}

// Search returns the last generation, best first. The first generation is created from the states in the list "first".
// Search returns nil if there is no state or no job, or if nodes have more devices than MostDevices.
func Search(p *Problem, first [][]byte, r *rand.Rand, o Options) []Member {
	if len(first) == 0 || len(p.Jobs) == 0 || p.Devices > MostDevices {
		return nil
	}
	s := newSearch(p, max(o.Population, 1), random{r})
	s.begin(first)
	for range o.Generations - 1 {
		if !s.generation() {
			break
		}
	}
	return s.members()
}

// search is the state of a search. Slots hold live states; the batch holds children before admission.
type search struct {
	p    *Problem
	draw draws
	most int // states per generation
	size int // words per state

	slots  []uint64 // states
	hashes []uint64
	scores []objectives
	ranks  []int32
	crowds []float64
	pop    []int32 // slots of the population
	young  []int32 // slots of the offspring
	spare  []int32 // free slots

	batch   []uint64
	parents []int32
	picks   []int32
	points  []int32
	hits    []int32
	marked  []int32
	known   []int32 // open-addressing hash table of slots plus one

	free, open, holders, taken, closed, held []uint64 // scratch rows
	order                                    []int32  // nodes
	fair, use                                []float64
	sorting                                  sorting
}

func newSearch(p *Problem, most int, draw draws) *search {
	p.prepare()
	s := &search{p: p, draw: draw, most: most, size: len(p.Jobs) * p.words}
	for _, row := range []*[]uint64{&s.free, &s.open, &s.holders, &s.taken, &s.closed, &s.held} {
		*row = make([]uint64, p.words)
	}
	s.fair, s.use = make([]float64, len(p.Jobs)), make([]float64, len(p.Jobs))
	return s
}

// begin makes the first generation, without duplicates.
func (s *search) begin(first [][]byte) {
	s.reserve(max(s.most, len(first)))
	jobs := len(s.p.Jobs)
	for k, rows := range first {
		for at, devices := range rows {
			setByte(s.p.row(s.state(k), at/s.p.Nodes), at%s.p.Nodes, uint64(devices))
		}
	}
	s.draw.repairs(len(first), jobs, s.p.Nodes)
	clear(s.known)
	for k := range first {
		s.repair(s.state(k), k)
		s.admit(s.state(k))
	}
	s.pop, s.young = s.young, s.pop
	s.survive(len(s.pop))
}

// reserve allocates the states of a population, its offspring and a batch.
func (s *search) reserve(most int) {
	n := 2*most + 2
	s.slots, s.hashes = make([]uint64, n*s.size), make([]uint64, n)
	s.scores, s.ranks, s.crowds = make([]objectives, n), make([]int32, n), make([]float64, n)
	s.sorting.places = make([]int32, n)
	for slot := n - 1; slot >= 0; slot-- {
		s.spare = append(s.spare, int32(slot))
	}
	s.batch = make([]uint64, (most+1)*s.size)
	room := 1
	for room < 4*n {
		room *= 2
	}
	s.known = make([]int32, room)
}

// state returns a state of the batch.
func (s *search) state(k int) []uint64 { return s.batch[k*s.size : (k+1)*s.size] }

// at returns the state in a slot.
func (s *search) at(slot int32) []uint64 { return s.slots[int(slot)*s.size : (int(slot)+1)*s.size] }

// admit copies a state into a slot of the offspring and evaluates it, unless it is a duplicate.
func (s *search) admit(state []uint64) {
	h := hash(state)
	place, found := s.find(state, h)
	if found {
		return
	}
	slot := s.spare[len(s.spare)-1]
	s.spare = s.spare[:len(s.spare)-1]
	copy(s.at(slot), state)
	s.hashes[slot] = h
	s.scores[slot] = s.p.evaluate(state, s.fair, s.use)
	s.known[place] = slot + 1
	s.young = append(s.young, slot)
}

// find returns the position of a state in the hash table, or its insertion position.
func (s *search) find(state []uint64, h uint64) (place int, found bool) {
	mask := len(s.known) - 1
	place = int(h) & mask
	for s.known[place] > 0 {
		slot := s.known[place] - 1
		if s.hashes[slot] == h && slices.Equal(s.at(slot), state) {
			return place, true
		}
		place = (place + 1) & mask
	}
	return place, false
}

// generation makes offspring and keeps the best; false if there are no offspring.
func (s *search) generation() bool {
	s.mate()
	if len(s.young) == 0 {
		return false
	}
	s.pop = append(s.pop, s.young...)
	s.young = s.young[:0]
	s.survive(s.most)
	return true
}

// members returns the population.
func (s *search) members() (list []Member) {
	for _, slot := range s.pop {
		m := Member{Rows: make([]byte, len(s.p.Jobs)*s.p.Nodes), Rank: int(s.ranks[slot]), Fair: -s.scores[slot][0],
			Use: -s.scores[slot][1]}
		for at := range m.Rows {
			m.Rows[at] = byte(byteAt(s.p.row(s.at(slot), at/s.p.Nodes), at%s.p.Nodes))
		}
		list = append(list, m)
	}
	return list
}
