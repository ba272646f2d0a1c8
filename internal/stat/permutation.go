package stat

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// maxDivisions is the maximum number of divisions to count exhaustively.
	maxDivisions = 20000
	// drawnDivisions is the number of divisions to draw if there are more.
	drawnDivisions = 2000
	// sumRounding is the fraction of the largest value by which sums of the same values in different orders may differ.
	sumRounding = 1e-12
)

// Permutation returns the p-value of a two-sided permutation test for equal means. It divides the pooled values into
// two samples of the same sizes in all possible ways. The p-value is the fraction of divisions in which the means
// differ by at least as much as in the data (Pitman, Significance tests which may be applied to samples from any
// populations, 1937). If there are more than 20,000 divisions, it draws 2,000 of them, determined by the seed. With few
// values the p-value is never small: for two samples of two values each, it is at least 1/3. It returns 1 if a sample
// is empty.
func Permutation(a, b []float64, seed uint64) float64 {
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
	d.tie *= sumRounding
	d.least = d.difference(sum(a))
	if divisions(len(all), len(a)) <= maxDivisions {
		d.each(0, 0, 0)
		return float64(d.extreme) / float64(d.seen)
	}
	random := rand.New(rand.NewPCG(seed, 0x64697669)) // a separate stream
	for range drawnDivisions {
		random.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		d.count(sum(all[:len(a)]))
	}
	return float64(d.extreme+1) / float64(d.seen+1) // the samples are one of the ways
}

// division counts divisions of values into two parts.
type division struct {
	all           []float64
	size          int // of the first part
	total         float64
	tie           float64 // difference that counts as zero
	least         float64 // difference between the samples' means
	seen, extreme int
}

// difference returns the absolute difference of the parts' means if the first part has this sum.
func (d *division) difference(sum float64) float64 {
	n := len(d.all)
	return math.Abs(sum/float64(d.size) - (d.total-sum)/float64(n-d.size))
}

func (d *division) count(sum float64) {
	d.seen++
	if d.difference(sum) >= d.least-d.tie {
		d.extreme++
	}
}

// each counts all divisions that agree in the values before from.
func (d *division) each(from, taken int, sum float64) {
	switch {
	case taken == d.size:
		d.count(sum)
	case len(d.all)-from >= d.size-taken:
		d.each(from+1, taken+1, sum+d.all[from])
		d.each(from+1, taken, sum)
	}
}

// divisions returns the number of ways to choose size of n values, as a float64.
func divisions(n, size int) float64 {
	count := 1.0
	for k := range min(size, n-size) {
		count = count * float64(n-k) / float64(k+1)
	}
	return count
}

// SamplesNeeded returns the minimum number of values that each of two samples needs so that [Permutation] can return a
// p-value at or below the given level. The level must be positive.
func SamplesNeeded(level float64) int {
	n := 2
	for 2/divisions(2*n, n) > level {
		n++
	}
	return n
}

func sum(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum
}
