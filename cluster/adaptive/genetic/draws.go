package genetic

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// draws are the random choices of a search. Tests have NumPy's, in the order of the original.
type draws interface {
	shuffle(list []int32)                           // puts a list into random order
	either(a, b int32) int32                        // is one of two
	cross(points []int32, jobs int)                 // draws for each mating how many rows are swapped
	rows(hits []int32, n int) []int32               // appends which of n rows are hit
	bytes(hits, rows []int32, n, nodes int) []int32 // appends which bytes of some of n rows are hit, counted row by row
	raise(s *search, n int)                         // adds devices to n states of the batch
	repairs(n, jobs, nodes int)                     // begins the repair of n states
	nodes(order []int32, state, job int)            // puts the nodes into a random order
}

// Probabilities of Pollux's operators.
const (
	crossRate  = 0.9 // of matings whose rows are swapped
	rowRate    = 0.1 // of rows that are set to the present, and of rows that lose devices
	removeRate = 0.1 // of bytes in a row that loses devices
)

// random draws the gaps between events, so that rare ones cost little.
type random struct{ *rand.Rand }

// gap is the number of failures before a success, from the scale of its probability. It is geometric, as the
// integer part of an exponential number (Devroye, "Non-Uniform Random Variate Generation", 1986, X.2).
func (r random) gap(scale float64) int32 { return int32(min(r.ExpFloat64()*scale, math.MaxInt32/2)) }

// scale is what gap takes for a probability.
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

func (r random) raise(s *search, n int) {
	jobs := scale(1 / float64(len(s.p.Jobs)))
	for k := range n {
		state := s.state(k)
		s.openings(state)
		next := r.gap(jobs)
		for at, word := range state {
			open, marks := s.open[at%s.p.words], uint64(0)
			for ; next < perWord; next += 1 + r.gap(jobs) {
				marks |= 0x80 << (next * 8)
			}
			next -= perWord
			marks &= open
			for held := positive(word) & open &^ marks; held != 0; held &= held - 1 {
				shift := bits.TrailingZeros64(held) &^ 7
				if r.Uint32N(uint32(s.holders[at%s.p.words]>>shift&0xff)) == 0 {
					marks |= 0x80 << shift
				}
			}
			state[at] = r.more(word, marks, s.p.Devices)
		}
	}
}

// more replaces marked bytes by a number from themselves to the devices of a node.
func (r random) more(word, marks uint64, devices int) uint64 {
	for ; marks != 0; marks &= marks - 1 {
		shift := bits.TrailingZeros64(marks) &^ 7
		word += uint64(r.Uint32N(uint32(devices)-uint32(word>>shift&0xff)+1)) << shift
	}
	return word
}

func (r random) repairs(int, int, int) {}

func (r random) nodes(order []int32, _, _ int) {
	for k := range order {
		order[k] = int32(k)
	}
	r.shuffle(order)
}
