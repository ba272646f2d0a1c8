package genetic

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// draws are the random choices of a search. Tests replay NumPy's choices, in the order of the original.
type draws interface {
	shuffle(list []int32)                           // shuffles a list
	either(a, b int32) int32                        // returns one of two
	cross(points []int32, jobs int)                 // draws for each mating the number of swapped rows
	rows(hits []int32, n int) []int32               // appends the selected rows among n
	bytes(hits, rows []int32, n, nodes int) []int32 // appends the selected bytes of some of n rows, counted row by row
	raise(s *search, n int)                         // adds devices to n states of the batch
	repairs(n, jobs, nodes int)                     // begins the repair of n states
	pick(held []int32, k, state, job int)           // moves a random node of positions k and later to position k
}

// Probabilities of Pollux's operators.
const (
	crossRate  = 0.9 // of swapping rows in a mating
	rowRate    = 0.1 // of setting a row to the current allocation, and of removing devices from a row
	removeRate = 0.1 // of each byte in a row that loses devices
)

// random draws the gaps between events, so that rare events cost little.
type random struct{ *rand.Rand }

// gap returns the number of failures before a success, from the scale of its probability. It is geometric: the integer
// part of an exponential number (Devroye, "Non-Uniform Random Variate Generation", 1986, X.2).
func (r random) gap(scale float64) int32 {
	if scale == 0 {
		return 0 // a certain event needs no draw
	}
	return int32(min(r.ExpFloat64()*scale, math.MaxInt32/2))
}

// scale returns gap's argument for a probability.
func scale(probability float64) float64 { return -1 / math.Log1p(-probability) }

var rowScale, removeScale = scale(rowRate), scale(removeRate)

func (r random) shuffle(list []int32) {
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

func (r random) either(a, b int32) int32 {
	if r.Uint32N(2) == 0 {
		return a
	}
	return b
}

func (r random) cross(points []int32, jobs int) {
	for k := range points {
		points[k] = 0
		if r.Float64() < crossRate {
			points[k] = r.Int32N(int32(jobs))
		}
	}
}

func (r random) rows(hits []int32, n int) []int32 {
	for at := r.gap(rowScale); at < int32(n); at += 1 + r.gap(rowScale) {
		hits = append(hits, at)
	}
	return hits
}

func (r random) bytes(hits, rows []int32, _, nodes int) []int32 {
	for at := r.gap(removeScale); at < int32(len(rows)*nodes); at += 1 + r.gap(removeScale) {
		hits = append(hits, rows[at/int32(nodes)]*int32(nodes)+at%int32(nodes))
	}
	return hits
}

// raise visits the bytes in which jobs have devices, and then the bytes drawn for any job. The latter are raised only
// if they are zero, so no byte is raised twice.
func (r random) raise(s *search, n int) {
	jobs := len(s.p.Jobs)
	any := 1 / float64(jobs)
	scale := scale(any)
	for k := range n {
		state := s.state(k)
		s.openings(state)
		s.order = appendMarked(s.order[:0], s.open)
		if len(s.order) == 0 {
			continue
		}
		r.raiseHeld(s, state, any)
		for row, column := 0, int(r.gap(scale)); ; column += 1 + int(r.gap(scale)) {
			for column >= len(s.order) && row < jobs {
				row, column = row+1, column-len(s.order)
			}
			if row == jobs {
				break
			}
			node := uint(s.order[column])
			word, shift := &state[row*s.p.words+int(node/perWord)], node%perWord*8
			if *word>>shift&0xff == 0 {
				*word += uint64(r.Uint32N(uint32(s.p.Devices)+1)) << shift
			}
		}
	}
}

// raiseHeld adds devices to jobs on nodes on which they have some.
func (r random) raiseHeld(s *search, state []uint64, any float64) {
	for from := 0; from < len(state); from += s.p.words {
		for i, word := range state[from : from+s.p.words] {
			for held := positive(word) & s.open[i]; held != 0; held &= held - 1 {
				shift := bits.TrailingZeros64(held) &^ 7
				holders := s.holders[i] >> shift & 0xff
				if own := 1 / float64(holders); holders == 1 || r.Float64() < any+own-any*own {
					word += uint64(r.Uint32N(uint32(s.p.Devices)-uint32(word>>shift&0xff)+1)) << shift
				}
			}
			state[from+i] = word
		}
	}
}

func (r random) repairs(int, int, int) {}

func (r random) pick(held []int32, k, _, _ int) {
	other := k + int(r.Uint32N(uint32(len(held)-k)))
	held[k], held[other] = held[other], held[k]
}
