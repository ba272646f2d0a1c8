package evaluation

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// mostDivisions is up to how many divisions all are looked at.
	mostDivisions = 20000
	// drawnDivisions is how many are drawn where there are more.
	drawnDivisions = 2000
)

// ByChance is how likely the means of two samples differ as much as they do if both are of
// one thing: the share of the ways to divide all values into two samples of these sizes
// that differ by as much at least (Pitman 1937). Where there are many ways, some are
// drawn, and the same seed draws the same. Few values never give a small one: two against
// two is at least one in three. It is 1 where a sample is empty.
func ByChance(a, b []float64, seed uint64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 1
	}
	all := slices.Concat(a, b)
	if !slices.ContainsFunc(all, func(v float64) bool { return v != all[0] }) {
		return 1
	}
	d := division{all: all, size: len(a)}
	for _, v := range all {
		d.total += v
		d.tie = max(d.tie, math.Abs(v))
	}
	d.tie *= 1e-12 // sums of the same values in another order differ by rounding
	d.least = d.apart(sumOf(a))
	if ways(len(all), len(a)) <= mostDivisions {
		d.each(0, 0, 0)
		return float64(d.extreme) / float64(d.seen)
	}
	random := rand.New(rand.NewPCG(seed, 0x64697669)) // a stream for this alone
	for range drawnDivisions {
		random.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		d.count(sumOf(all[:len(a)]))
	}
	return float64(d.extreme+1) / float64(d.seen+1) // the samples are one of the ways
}

// division goes through ways to divide values.
type division struct {
	all           []float64
	size          int // of the first part
	total         float64
	tie           float64 // what counts as equal
	least         float64 // difference that counts
	seen, extreme int
}

// apart is the difference of the parts' means where the first has this sum.
func (d *division) apart(sum float64) float64 {
	n := len(d.all)
	return math.Abs(sum/float64(d.size) - (d.total-sum)/float64(n-d.size))
}

func (d *division) count(sum float64) {
	d.seen++
	if d.apart(sum) >= d.least-d.tie {
		d.extreme++
	}
}

// each takes or leaves the values from one on.
func (d *division) each(from, taken int, sum float64) {
	switch {
	case taken == d.size:
		d.count(sum)
	case len(d.all)-from >= d.size-taken:
		d.each(from+1, taken+1, sum+d.all[from])
		d.each(from+1, taken, sum)
	}
}

// ways is how many parts of a size there are; as many as floats can tell apart.
func ways(n, size int) float64 {
	count := 1.0
	for k := range min(size, n-size) {
		count = count * float64(n-k) / float64(k+1)
	}
	return count
}

func sumOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum
}
