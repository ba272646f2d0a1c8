package estimate

import (
	"cmp"
	"math"
	"slices"
)

// leastGain is the minimum gain of a cut, as a share of the squares that all sums explain. Smaller gains are rounding.
const leastGain = 1e-12

// span is a run of neighbouring bins that becomes a leaf, with its best cut.
type span struct {
	first, last int // bins first to last-1, in order
	cut         int // start of the right half; zero means that no cut has a gain
	gain        float64
}

// grower grows trees of one feature. It reuses its memory.
type grower struct {
	leaves int
	least  float64   // minimum rows of a leaf
	sums   []float64 // prefix sums over bins in order
	counts []float64
	order  []int
	spans  []span
}

// grow writes into update the prediction of a tree with few leaves, given the sums of residuals by bin. It takes cuts
// one by one by largest gain. Missing values have their own leaf. It first sorts texts by their means; in this order
// the best partition is a cut (Fisher: On Grouping for Maximum Homogeneity, 1958).
func (g *grower) grow(sums, counts, update []float64, text bool) {
	g.sort(sums, counts, text)
	g.accumulate(sums, counts)
	n := len(g.order)
	g.spans = append(g.spans[:0], g.best(0, n))
	for len(g.spans) < g.leaves {
		at := g.widest()
		s := g.spans[at]
		if s.cut == 0 {
			break
		}
		g.spans[at] = g.best(s.first, s.cut)
		g.spans = append(g.spans, g.best(s.cut, s.last))
	}
	for _, s := range g.spans {
		value := shrunk(g.sums[s.last]-g.sums[s.first], g.counts[s.last]-g.counts[s.first], g.least)
		for _, bin := range g.order[s.first:s.last] {
			update[bin] = value
		}
	}
	update[missingBin] = shrunk(sums[missingBin], counts[missingBin], g.least)
}

// shrunk returns the mean of a leaf, shrunk to zero if the leaf has too few rows.
func shrunk(sum, count, least float64) float64 {
	return sum / max(count, least)
}

// sort puts the bins in the order for cutting.
func (g *grower) sort(sums, counts []float64, text bool) {
	g.order = g.order[:0]
	for bin := 1; bin < len(sums); bin++ {
		g.order = append(g.order, bin)
	}
	if text {
		mean := func(bin int) float64 { return sums[bin] / (counts[bin] + g.least) }
		slices.SortFunc(g.order, func(a, b int) int { return cmp.Or(cmp.Compare(mean(a), mean(b)), cmp.Compare(a, b)) })
	}
}

// accumulate computes prefix sums in this order.
func (g *grower) accumulate(sums, counts []float64) {
	g.sums, g.counts = append(g.sums[:0], 0), append(g.counts[:0], 0)
	for k, bin := range g.order {
		g.sums = append(g.sums, g.sums[k]+sums[bin])
		g.counts = append(g.counts, g.counts[k]+counts[bin])
	}
}

// widest returns the leaf whose cut has the largest gain.
func (g *grower) widest() int {
	at := 0
	for k, s := range g.spans {
		if s.gain > g.spans[at].gain {
			at = k
		}
	}
	return at
}

func (g *grower) best(first, last int) span {
	s := span{first: first, last: last}
	sum, count := g.sums[last]-g.sums[first], g.counts[last]-g.counts[first]
	whole := explained(sum, count)
	least := math.Abs(whole)*leastGain + math.SmallestNonzeroFloat64
	for cut := first + 1; cut < last; cut++ {
		left, leftCount := g.sums[cut]-g.sums[first], g.counts[cut]-g.counts[first]
		if leftCount < g.least {
			continue
		}
		if count-leftCount < g.least {
			break
		}
		gain := left*left/leftCount + (sum-left)*(sum-left)/(count-leftCount) - whole
		if gain > s.gain && gain > least {
			s.cut, s.gain = cut, gain
		}
	}
	return s
}

// explained returns the reduction of the sum of squares by the mean of rows.
func explained(sum, count float64) float64 {
	if count == 0 {
		return 0
	}
	return sum * sum / count
}
