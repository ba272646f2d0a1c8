package stat

import "slices"

// fewValues is the number of values up to which a comparison sort is faster than a radix sort.
const fewValues = 1 << 12

// SortInts sorts values in ascending order. It distributes many values by their digits, the least significant first
// (Knuth, The Art of Computer Programming 3, 1998, algorithm 5.2.5R), because times of a million jobs differ in few
// digits. It needs memory for another copy of the values then: it uses spare, and returns it for the next call,
// possibly with a larger capacity.
func SortInts(values, spare []int64) []int64 {
	const bits, radix = 11, 1 << 11
	if len(values) <= fewValues {
		slices.Sort(values)
		return spare
	}
	least, most := slices.Min(values), slices.Max(values)
	span := uint64(most) - uint64(least)
	spare = slices.Grow(spare[:0], len(values))[:len(values)]
	from, to := values, spare
	for shift := 0; shift < 64 && span>>shift > 0; shift += bits {
		var next [radix]int
		for _, v := range from {
			next[(uint64(v)-uint64(least))>>shift%radix]++
		}
		sum := 0
		for digit, n := range next {
			next[digit], sum = sum, sum+n
		}
		for _, v := range from {
			digit := (uint64(v) - uint64(least)) >> shift % radix
			to[next[digit]] = v
			next[digit]++
		}
		from, to = to, from
	}
	if &from[0] != &values[0] {
		copy(values, from)
	}
	return spare
}
