package estimate

import "slices"

// booster learns the terms in turn from the rows of a bag. Each turn is a small step towards the residual of all terms.
// The validation rows are last.
type booster struct {
	cells    [][]uint16 // by term and row
	residual []float64  // by row: part of the target that no term explains yet
	train    int        // number of training rows
	scores   [][]float64
	counts   [][]float64 // training rows, by term and bin
	// grow writes a term's next tree, given the sums of residuals by bin.
	grow func(term int, sums, counts, update []float64)
	// bend adjusts a term's new scores to its constraints; nil applies none.
	bend func(term int, scores, counts []float64)
	rate float64
	stop <-chan struct{} // closed to stop early, with incomplete results; nil never stops
}

// newBooster makes a booster for terms with the given numbers of bins. It takes ownership of residual.
func newBooster(cells [][]uint16, sizes []int, residual []float64, train int, rate float64) *booster {
	b := &booster{cells: cells, residual: residual, train: train, rate: rate}
	for term, size := range sizes {
		counts := make([]float64, size)
		for _, bin := range cells[term][:train] {
			counts[bin]++
		}
		b.counts = append(b.counts, counts)
		b.scores = append(b.scores, make([]float64, size))
	}
	return b
}

// run learns until validation has not improved for patience rounds, returns to the best round, and returns the number
// of rounds kept. Without validation rows it runs all rounds, unless it is stopped.
func (b *booster) run(rounds, patience int) int {
	if len(b.cells) == 0 {
		return 0
	}
	update := b.room()
	sums := b.room()
	if b.train == len(b.residual) {
		for round := 0; round < rounds && !stopped(b.stop); round++ {
			b.round(sums, update)
		}
		return rounds
	}
	kept, best, least := 0, b.copyScores(), b.loss()
	for round := 1; round <= rounds && round-kept <= patience && !stopped(b.stop); round++ {
		b.round(sums, update)
		if loss := b.loss(); loss < least {
			kept, least = round, loss
			for term := range best {
				copy(best[term], b.scores[term])
			}
		}
	}
	b.goTo(best)
	return kept
}

func (b *booster) room() []float64 {
	most := 0
	for _, scores := range b.scores {
		most = max(most, len(scores))
	}
	return make([]float64, 2*most)
}

func (b *booster) round(sums, update []float64) {
	for term, scores := range b.scores {
		if stopped(b.stop) {
			return
		}
		size := len(scores)
		sumByBin(b.residual[:b.train], b.cells[term], sums[:2*size])
		step := update[:size]
		b.grow(term, sums[:size], b.counts[term], step)
		b.step(term, step)
		subtract(b.residual, b.cells[term], step)
	}
}

// step updates a term's scores and stores the changes in update.
func (b *booster) step(term int, update []float64) {
	scores := b.scores[term]
	before := slices.Clone(scores)
	for bin := range scores {
		scores[bin] += b.rate * update[bin]
	}
	if b.bend != nil {
		b.bend(term, scores, b.counts[term])
	}
	for bin := range scores {
		update[bin] = scores[bin] - before[bin]
	}
}

// sumByBin adds residuals by bin in the first half of sums. Even and odd rows have separate sums, so that two rows of a
// bin do not depend on each other.
func sumByBin(residual []float64, cells []uint16, sums []float64) {
	clear(sums)
	half := len(sums) / 2
	even, odd := sums[:half], sums[half:]
	cells = cells[:len(residual)]
	row := 0
	for ; row+1 < len(residual); row += 2 {
		even[cells[row]] += residual[row]
		odd[cells[row+1]] += residual[row+1]
	}
	if row < len(residual) {
		even[cells[row]] += residual[row]
	}
	for bin, sum := range odd {
		even[bin] += sum
	}
}

// subtract removes a term's update from the residuals of all rows.
func subtract(residual []float64, cells []uint16, update []float64) {
	cells = cells[:len(residual)]
	for row := range residual {
		residual[row] -= update[cells[row]]
	}
}

func (b *booster) loss() float64 {
	sum := 0.0
	for _, r := range b.residual[b.train:] {
		sum += r * r
	}
	return sum
}

func (b *booster) copyScores() [][]float64 {
	copied := make([][]float64, len(b.scores))
	for term, scores := range b.scores {
		copied[term] = slices.Clone(scores)
	}
	return copied
}

func (b *booster) goTo(scores [][]float64) {
	for term := range scores {
		change := make([]float64, len(scores[term]))
		for bin := range change {
			change[bin] = scores[term][bin] - b.scores[term][bin]
		}
		subtract(b.residual, b.cells[term], change)
		b.scores[term] = scores[term]
	}
}
