package learn

import "slices"

// rowsAhead bounds the search for a candidate among those of the state before: an action changes or
// removes a few candidates that stand beside each other.
const rowsAhead = 8

// match finds each row of a state among the rows of the state before, which are in a similar order. It
// calls found with the row's index and that of its equal, or -1.
func match(rows []float64, before func(k int) []float64, count, width int, found func(row []float64, k int)) {
	next := 0
	for row := range slices.Chunk(rows, width) {
		at := -1
		for k := next; k < min(next+rowsAhead, count); k++ {
			if slices.Equal(row, before(k)) {
				at, next = k, k+1
				break
			}
		}
		found(row, at)
	}
}

// seen holds the candidates of one state, and their embeddings.
type seen struct {
	changes    int // of the parameters, by which the embeddings are
	rows       []float64
	embeddings []float64
	places     []int // of the embedding of each row

	oldRows, oldEmbeddings []float64
}

func (s *seen) embedding(at, width int) []float64 { return s.embeddings[at*width:][:width] }

// look embeds the candidates of a state that the last state did not have.
func (m *Set) look(s *seen, o Observation) {
	width, h := m.o.Features, m.o.Hidden
	s.rows, s.oldRows = s.oldRows[:0], s.rows
	s.embeddings, s.oldEmbeddings = s.oldEmbeddings[:0], s.embeddings
	s.places = s.places[:0]
	before := func(k int) []float64 { return s.oldRows[k*width:][:width] }
	match(o.Values[m.o.Globals:], before, len(s.oldRows)/width, width, func(row []float64, k int) {
		s.rows, s.places = append(s.rows, row...), append(s.places, len(s.places))
		if k >= 0 {
			s.embeddings = append(s.embeddings, s.oldEmbeddings[k*h:][:h]...)
			return
		}
		s.embeddings = append(s.embeddings, m.passes[ofCandidates].Forward(row)...)
	})
}

// seenBatch holds the candidates of a batch of states, each of a run of equals once.
type seenBatch struct {
	rows                []float64 // that differ
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
