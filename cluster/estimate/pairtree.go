package estimate

// pairGrower grows trees of two features: one cut in one feature, and on each side of it one cut in the other, in the
// order that explains more.
type pairGrower struct {
	least float64
	// sums and counts of all cells before a row and a column, by row and column
	sums, counts []float64
	rows, cols   int
}

// quarter is the second cut on one side of the first, with its gain.
type quarter struct {
	cut  int // zero means a single leaf
	gain float64
}

func (g *pairGrower) load(sums, counts []float64, rows, cols int) {
	g.rows, g.cols = rows, cols
	size := (rows + 1) * (cols + 1)
	if len(g.sums) < size {
		g.sums, g.counts = make([]float64, size), make([]float64, size)
	}
	clear(g.sums[:cols+1])
	clear(g.counts[:cols+1])
	for r := range rows {
		sum, count := 0.0, 0.0
		above, here := r*(cols+1), (r+1)*(cols+1)
		g.sums[here], g.counts[here] = 0, 0
		for c := range cols {
			sum += sums[r*cols+c]
			count += counts[r*cols+c]
			g.sums[here+c+1] = g.sums[above+c+1] + sum
			g.counts[here+c+1] = g.counts[above+c+1] + count
		}
	}
}

// box returns the sum and count of rows r0 to r1-1 and columns c0 to c1-1.
func (g *pairGrower) box(r0, r1, c0, c1 int) (sum, count float64) {
	w := g.cols + 1
	a, b, c, d := r1*w+c1, r0*w+c1, r1*w+c0, r0*w+c0
	return g.sums[a] - g.sums[b] - g.sums[c] + g.sums[d], g.counts[a] - g.counts[b] - g.counts[c] + g.counts[d]
}

// cells is box, with the two features swapped if turned.
func (g *pairGrower) cells(turned bool, x0, x1, y0, y1 int) (sum, count float64) {
	if turned {
		return g.box(y0, y1, x0, x1)
	}
	return g.box(x0, x1, y0, y1)
}

// grow writes the best tree's prediction of the loaded map into update.
func (g *pairGrower) grow(update []float64) {
	var best struct {
		turned    bool
		cut       int
		low, high quarter
	}
	most := explained(g.box(0, g.rows, 0, g.cols)) * (1 + leastGain)
	for _, turned := range []bool{false, true} {
		wide, high := g.sides(turned)
		for cut := 1; cut < wide; cut++ {
			below, above := g.side(turned, 0, cut, high), g.side(turned, cut, wide, high)
			if below.cut >= 0 && above.cut >= 0 && below.gain+above.gain > most {
				most = below.gain + above.gain
				best.turned, best.cut, best.low, best.high = turned, cut, below, above
			}
		}
	}
	wide, high := g.sides(best.turned)
	for _, s := range []struct {
		x0, x1, cut int
	}{{0, best.cut, best.low.cut}, {best.cut, wide, best.high.cut}} {
		g.fill(update, best.turned, s.x0, s.x1, 0, s.cut)
		g.fill(update, best.turned, s.x0, s.x1, s.cut, high)
	}
}

// sides returns the sizes of the feature that is cut first and of the other.
func (g *pairGrower) sides(turned bool) (first, second int) {
	if turned {
		return g.cols, g.rows
	}
	return g.rows, g.cols
}

// side returns the best cut of one side; a negative cut means too few rows.
func (g *pairGrower) side(turned bool, x0, x1, high int) quarter {
	sum, count := g.cells(turned, x0, x1, 0, high)
	if count < g.least {
		return quarter{cut: -1}
	}
	best := quarter{gain: explained(sum, count)}
	for cut := 1; cut < high; cut++ {
		part, n := g.cells(turned, x0, x1, 0, cut)
		if n < g.least {
			continue
		}
		if count-n < g.least {
			break
		}
		if gain := part*part/n + (sum-part)*(sum-part)/(count-n); gain > best.gain {
			best = quarter{cut, gain}
		}
	}
	return best
}

func (g *pairGrower) fill(update []float64, turned bool, x0, x1, y0, y1 int) {
	if x0 == x1 || y0 == y1 {
		return
	}
	sum, count := g.cells(turned, x0, x1, y0, y1)
	value := shrunk(sum, count, g.least)
	if turned {
		x0, x1, y0, y1 = y0, y1, x0, x1
	}
	for r := x0; r < x1; r++ {
		for c := y0; c < y1; c++ {
			update[r*g.cols+c] = value
		}
	}
}

// interaction returns how much the four means around the best pair of cuts explain beyond the two separate cuts, minus
// the part that a main term could still learn. This screening is known as FAST (Lou, Caruana, Gehrke, Hooker 2013).
func (g *pairGrower) interaction() float64 {
	most := 0.0
	for r := 1; r < g.rows; r++ {
		for c := 1; c < g.cols; c++ {
			most = max(most, g.contrast(r, c))
		}
	}
	return most
}

// contrast returns the part that the interaction of two cuts explains: the square of the difference of differences of
// four means, divided by its variance.
func (g *pairGrower) contrast(r, c int) float64 {
	sum, weight := 0.0, 0.0
	for _, q := range [4]struct {
		r0, r1, c0, c1 int
		sign           float64
	}{{0, r, 0, c, 1}, {0, r, c, g.cols, -1}, {r, g.rows, 0, c, -1}, {r, g.rows, c, g.cols, 1}} {
		s, n := g.box(q.r0, q.r1, q.c0, q.c1)
		if n < g.least {
			return 0
		}
		sum += q.sign * s / n
		weight += 1 / n
	}
	return sum * sum / weight
}
