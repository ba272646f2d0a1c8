package estimate

import (
	"cmp"
	"math"
	"slices"

	"graft/internal/parallel"
)

// grouping joins the bins of a feature into the few groups of a pair.
type grouping struct {
	of []uint16 // group by bin; 0 for missing values
	n  int      // number of groups, including missing values
}

type pair struct {
	features [2]int
	groups   [2]grouping
	cells    []uint16 // by row
	strength float64  // potential gain according to FAST
}

func (p *pair) size() int { return p.groups[0].n * p.groups[1].n }

func newGrouping(order []int, weights []float64, most int) grouping {
	of := coarse(order, weights, most)
	return grouping{of: of, n: int(slices.Max(of)) + 1}
}

// choosePairs keeps the pairs that could explain most of the curves' residuals. It skips monotone features and features
// of Alone.
func (p *plan) choosePairs(bags []*bag) {
	if p.o.Pairs < 0 {
		return
	}
	residual, scores := p.left(bags)
	coarsened := make([]grouping, len(p.features))
	var all []pair
	for k := range p.features {
		coarsened[k] = newGrouping(p.inOrder(k, scores[k]), p.weights[k], p.o.PairBins)
		for i := range k {
			if p.mayPair(i) && p.mayPair(k) {
				all = append(all, pair{features: [2]int{i, k}, groups: [2]grouping{coarsened[i], coarsened[k]}})
			}
		}
	}
	parallel.Do(len(all), p.o.Workers, func(k int) {
		if !stopped(p.stop) {
			p.screen(&all[k], residual)
		}
	})
	slices.SortStableFunc(all, func(a, b pair) int { return cmp.Compare(b.strength, a.strength) })
	for _, candidate := range all[:min(p.o.Pairs, len(all))] {
		if candidate.strength > 0 {
			candidate.cells = p.cellsOf(&candidate)
			p.pairs = append(p.pairs, candidate)
		}
	}
}

// mayPair reports whether a feature may be in a pair and has at least two bins with rows.
func (p *plan) mayPair(feature int) bool {
	used := 0
	for _, w := range p.weights[feature] {
		if w > 0 {
			used++
		}
	}
	name := p.features[feature].name
	return used > 1 && p.o.Monotone[name] == 0 && !slices.Contains(p.o.Alone, name)
}

// left returns the residuals of the averaged curves by row, and the averaged curves.
func (p *plan) left(bags []*bag) (residual []float64, scores [][]float64) {
	residual = slices.Clone(p.target)
	base := 0.0
	for _, b := range bags {
		base += b.base / float64(len(bags))
	}
	for row := range residual {
		residual[row] -= base
	}
	for k := range p.features {
		mean := make([]float64, p.features[k].bins())
		for _, b := range bags {
			for bin, score := range b.mains[k] {
				mean[bin] += score / float64(len(bags))
			}
		}
		subtract(residual, p.bins[k], mean)
		scores = append(scores, mean)
	}
	return residual, scores
}

// inOrder orders the bins of a feature, without the missing bin: bins of numbers as they are, bins of texts by their
// scores.
func (p *plan) inOrder(k int, scores []float64) []int {
	order := upTo(len(scores))[1:]
	if p.features[k].text {
		sortBy(order, scores)
	}
	return order
}

func sortBy(order []int, scores []float64) {
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(scores[a], scores[b]), cmp.Compare(a, b)) })
}

// screen computes the potential gain of a pair. It first sorts texts by the order that best separates the rows of the
// map.
func (p *plan) screen(c *pair, residual []float64) {
	for side, k := range c.features {
		if p.features[k].text {
			order := p.inOrder(k, p.spectrum(k, c.features[1-side], c.groups[1-side], residual))
			c.groups[side] = newGrouping(order, p.weights[k], p.o.PairBins)
		}
	}
	sums, counts := p.mapOf(p.cellsOf(c), c.size(), residual)
	g := &pairGrower{least: float64(p.o.LeastRows)}
	g.load(sums, counts, c.groups[0].n, c.groups[1].n)
	c.strength = g.interaction()
}

// cellsOf returns the cell of a pair's map by row.
func (p *plan) cellsOf(c *pair) []uint16 {
	cells := make([]uint16, len(p.target))
	first, second := p.bins[c.features[0]], p.bins[c.features[1]]
	wide := uint16(c.groups[1].n)
	for row := range cells {
		cells[row] = c.groups[0].of[first[row]]*wide + c.groups[1].of[second[row]]
	}
	return cells
}

// mapOf sums residuals and counts rows by cell.
func (p *plan) mapOf(cells []uint16, size int, residual []float64) (sums, counts []float64) {
	sums, counts = make([]float64, 2*size), make([]float64, size)
	sumByBin(residual, cells, sums)
	for _, cell := range cells {
		counts[cell]++
	}
	return sums[:size], counts
}

// spectrumTurns is the number of iterations. It suffices for an order; the vector need not be exact.
const spectrumTurns = 20

// spectrum returns a score for each bin of feature k: the first left singular vector of the map of mean residuals over
// the other feature's groups, by the power method. Cuts along it separate texts on which the other feature has
// different effects.
func (p *plan) spectrum(k, other int, groups grouping, residual []float64) []float64 {
	rows, cols := p.features[k].bins(), groups.n
	sums, counts := make([]float64, rows*cols), make([]float64, rows*cols)
	for row, r := range residual {
		cell := int(p.bins[k][row])*cols + int(groups.of[p.bins[other][row]])
		sums[cell] += r
		counts[cell]++
	}
	for cell := range sums {
		sums[cell] = shrunk(sums[cell], counts[cell]+float64(p.o.LeastRows), 1)
	}
	right := slices.Clone(strongest(sums, cols))
	left := make([]float64, rows)
	for range spectrumTurns {
		for r := range left {
			left[r] = dot(sums[r*cols:(r+1)*cols], right)
		}
		norm := math.Sqrt(dot(left, left))
		if norm == 0 {
			break
		}
		clear(right)
		for r := range left {
			left[r] /= norm
			for c := range right {
				right[c] += left[r] * sums[r*cols+c]
			}
		}
	}
	return left
}

// strongest returns the row of a map with the largest sum of squares.
func strongest(values []float64, cols int) []float64 {
	best, most := values[:cols], -1.0
	for row := range slices.Chunk(values, cols) {
		if size := dot(row, row); size > most {
			best, most = row, size
		}
	}
	return best
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for k, v := range a {
		sum += v * b[k]
	}
	return sum
}
