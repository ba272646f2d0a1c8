package learn

import "slices"

// rowsAhead limits the search for a candidate among the candidates of the previous state: an action changes or removes
// a few adjacent candidates.
const rowsAhead = 8

// match finds each row of a state among the rows of the previous state, which have a similar order. It calls found with
// the row's index and the index of the equal row, or -1.
func match(rows []float64, before func(k int) []float64, count, width int, found func(row []float64, k int)) {
	next := 0
	for ; len(rows) > 0; rows = rows[width:] {
		row, at := rows[:width], -1
		for k := next; k < min(next+rowsAhead, count); k++ {
			if slices.Equal(row, before(k)) {
				at, next = k, k+1
				break
			}
		}
		found(row, at)
	}
}

// seen holds the candidates of one state, and their embeddings. Equal candidates of the next state keep their place.
type seen struct {
	changes    int       // version of the parameters that computed the embeddings
	rows       []float64 // by place
	embeddings []float64 // by place
	places     []int     // place of each candidate
	old        []int     // place of each candidate of the previous state
	states     []int     // the last state that used a place
	state      int
	free       []int // places that the last state did not use
}

// look embeds the candidates of a state that the previous state did not have.
func (m *Set) look(s *seen, o Observation) {
	width, h := m.o.Features, m.o.Hidden
	s.old, s.places = s.places, s.old[:0]
	s.state++
	before := func(k int) []float64 { return s.rows[s.old[k]*width:][:width] }
	match(o.Values[m.o.Globals:], before, len(s.old), width, func(row []float64, k int) {
		var at int
		if k >= 0 {
			at = s.old[k]
		} else {
			at = s.place(width, h)
			copy(s.rows[at*width:], row)
			copy(s.embeddings[at*h:], m.passes[ofCandidates].Forward(row))
		}
		s.places, s.states[at] = append(s.places, at), s.state
	})
	for _, at := range s.old {
		if s.states[at] != s.state {
			s.free = append(s.free, at)
		}
	}
}

// place returns an unused place.
func (s *seen) place(width, hidden int) int {
	if last := len(s.free) - 1; last >= 0 {
		at := s.free[last]
		s.free = s.free[:last]
		return at
	}
	s.rows, s.embeddings = append(s.rows, make([]float64, width)...), append(s.embeddings, make([]float64, hidden)...)
	s.states = append(s.states, 0)
	return len(s.states) - 1
}

func (s *seen) embedding(at, width int) []float64 { return s.embeddings[at*width:][:width] }

// seenBatch holds the candidates of a batch of states. Each run of equal candidates is stored once.
type seenBatch struct {
	rows                []float64 // distinct rows
	places              [][]int   // row of each candidate of each state
	pooled              []float64
	embeddings, queries []float64
}

func (b *seenBatch) reset() { b.rows, b.places, b.pooled = b.rows[:0], b.places[:0], b.pooled[:0] }

// find adds the candidates of a state.
func (b *seenBatch) find(rows []float64, width int) {
	var last, own []int
	if len(b.places) > 0 {
		last = b.places[len(b.places)-1]
	}
	before := func(k int) []float64 { return b.rows[last[k]*width:][:width] }
	match(rows, before, len(last), width, func(row []float64, k int) {
		if k >= 0 {
			own = append(own, last[k])
			return
		}
		own = append(own, len(b.rows)/width)
		b.rows = append(b.rows, row...)
	})
	b.places = append(b.places, own)
}
