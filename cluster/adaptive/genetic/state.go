package genetic

import "math/bits"

// A state has a row of bytes for each job: the number of the job's devices on each node, eight nodes per word. Bytes
// are at most MostDevices, so that sums and comparisons of bytes do not overflow into the next byte.
const (
	perWord = 8
	ones    = 0x0101010101010101
	tops    = 0x8080808080808080
)

// MostDevices is the maximum number of devices per node. A byte stores the number of devices that a job has on a node.
// Crossover may triple this number before repair, and 3 × 64 still fits in a byte.
const MostDevices = 64

// positive marks the bytes above zero by their top bits.
func positive(word uint64) uint64 { return ((word &^ tops) + (tops - ones)) & tops }

// whole expands marks of bytes into byte masks.
func whole(marks uint64) uint64 { return marks >> 7 * 0xff }

// least returns the minimum of each pair of bytes.
func least(a, b uint64) uint64 {
	smaller := whole(^((b | tops) - a) & tops) // set if b is smaller
	return a&^smaller | b&smaller
}

// sum adds up the bytes of a word.
func sum(word uint64) int {
	const pairs = 0x00ff00ff00ff00ff
	return int((word&pairs + word>>8&pairs) * 0x0001000100010001 >> 48)
}

// count returns the number of nonzero bytes in a row, and the sum of their devices.
func count(row []uint64) (nodes, devices int) {
	for _, word := range row {
		nodes += bits.OnesCount64(positive(word))
		devices += sum(word)
	}
	return nodes, devices
}

// byteAt returns the devices of a node in a row.
func byteAt(row []uint64, node int) uint64 { return row[node/perWord] >> (node % perWord * 8) & 0xff }

// setByte sets the devices of a node in a row.
func setByte(row []uint64, node int, value uint64) {
	shift := node % perWord * 8
	row[node/perWord] = row[node/perWord]&^(0xff<<shift) | value<<shift
}

// appendMarked appends the nodes whose bytes are nonzero.
func appendMarked(list []int32, row []uint64) []int32 {
	for i, word := range row {
		for held := positive(word) | word&tops; held != 0; held &= held - 1 {
			list = append(list, int32(i*perWord+bits.TrailingZeros64(held)/8))
		}
	}
	return list
}

// hash mixes the words of a state.
func hash(state []uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, word := range state {
		h = bits.RotateLeft64(h^word, 29) * 0xbf58476d1ce4e5b9
	}
	return h ^ h>>32
}
