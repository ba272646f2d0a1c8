package dense

import "slices"

// batched is a layer that computes a batch faster than its examples one by one, with the same bits. Its
// methods report false, and do nothing, if they are not faster for this batch.
type batched interface {
	forwardBatch(s *scratch, params [][]float64, batch int, x, y []float64) bool
	backwardBatch(s *scratch, params, grads [][]float64, batch int, x, dy, dx []float64) bool
}

// scratch is memory for copies of matrices whose tiles lie together.
type scratch struct{ panel, other []float64 }

// tile is the width of a tile of results, whose sums stay in registers. Compilers spill those of wider ones.
const tile = 4

// tiles reports whether a batch is computed in tiles: not if inputs are zero, since those are skipped.
func (f Full) tiles(batch int, x []float64) bool {
	return batch > 1 && f.Width%tile == 0 && !slices.Contains(x, 0)
}

// addRows adds the rows of a panel, each as wide as a tile, times the values of x, in their order.
func addRows(y *[tile]float64, x, panel []float64) {
	y0, y1, y2, y3 := y[0], y[1], y[2], y[3]
	for len(x) >= 4 && len(panel) >= 4*tile {
		y0 += float64(x[0] * panel[0])
		y1 += float64(x[0] * panel[1])
		y2 += float64(x[0] * panel[2])
		y3 += float64(x[0] * panel[3])
		y0 += float64(x[1] * panel[4])
		y1 += float64(x[1] * panel[5])
		y2 += float64(x[1] * panel[6])
		y3 += float64(x[1] * panel[7])
		y0 += float64(x[2] * panel[8])
		y1 += float64(x[2] * panel[9])
		y2 += float64(x[2] * panel[10])
		y3 += float64(x[2] * panel[11])
		y0 += float64(x[3] * panel[12])
		y1 += float64(x[3] * panel[13])
		y2 += float64(x[3] * panel[14])
		y3 += float64(x[3] * panel[15])
		x, panel = x[4:], panel[4*tile:]
	}
	for k, v := range x { // three at most
		y0 += float64(v * panel[tile*k])
		y1 += float64(v * panel[tile*k+1])
		y2 += float64(v * panel[tile*k+2])
		y3 += float64(v * panel[tile*k+3])
	}
	*y = [tile]float64{y0, y1, y2, y3}
}

// columns appends the columns of a tile from a matrix of so many columns.
func columns(to, m []float64, width, at int) []float64 {
	for ; at+tile <= len(m); at += width {
		to = append(to, m[at:at+tile]...)
	}
	return to
}

// transposed appends a matrix of so many columns, with rows and columns exchanged.
func transposed(to, m []float64, width int) []float64 {
	for column := range width {
		for at := column; at < len(m); at += width {
			to = append(to, m[at])
		}
	}
	return to
}

// forwardBatch adds inputs in their order, as Forward does.
func (f Full) forwardBatch(s *scratch, params [][]float64, batch int, x, y []float64) bool {
	if !f.tiles(batch, x) {
		return false
	}
	in := len(x) / batch
	for k := 0; k < f.Width; k += tile {
		s.panel = columns(s.panel[:0], params[0], f.Width, k)
		for b := range batch {
			sums := (*[tile]float64)(y[b*f.Width+k:])
			*sums = [tile]float64(params[1][k:])
			addRows(sums, x[b*in:][:in], s.panel)
		}
	}
	return true
}

// backwardBatch adds examples in their order, as Backward does.
func (f Full) backwardBatch(s *scratch, params, grads [][]float64, batch int, x, dy, dx []float64) bool {
	in := len(x) / max(1, batch)
	if in%tile != 0 || !f.tiles(batch, x) {
		return false
	}
	for b := range batch {
		AddScaled(grads[1], 1, dy[b*f.Width:][:f.Width])
	}
	s.other = transposed(s.other[:0], x, in)
	for k := 0; k < f.Width; k += tile {
		s.panel = columns(s.panel[:0], dy, f.Width, k)
		for i := range in {
			addRows((*[tile]float64)(grads[0][i*f.Width+k:]), s.other[i*batch:][:batch], s.panel)
		}
	}
	if dx != nil {
		f.slopes(s, params[0], dy, dx, in)
	}
	return true
}

// byFours appends four rows of a matrix as the columns of a panel: every fourth place, then those behind.
func byFours(to, m []float64, width int) []float64 {
	r0, r1, r2, r3 := m[:width], m[width:][:width], m[2*width:][:width], m[3*width:][:width]
	for part := range 4 {
		for k := part; k < width; k += 4 {
			to = append(to, r0[k], r1[k], r2[k], r3[k])
		}
	}
	return to
}

// slopes sets the gradients of inputs to the sums of [Dot]: each is made of four, of every fourth product.
func (f Full) slopes(s *scratch, w, dy, dx []float64, in int) {
	length := f.Width / 4
	s.other = s.other[:0]
	for at := 0; at < len(dy); at += f.Width {
		s.other = transposed(s.other, dy[at:at+f.Width], 4)
	}
	for i := 0; i < in; i += tile {
		s.panel = byFours(s.panel[:0], w[i*f.Width:], f.Width)
		for b := 0; b*f.Width < len(dy); b++ {
			var sums [4][tile]float64
			for part := range 4 {
				addRows(&sums[part], s.other[b*f.Width+part*length:][:length], s.panel[part*length*tile:][:length*tile])
			}
			for k := range tile {
				dx[b*in+i+k] = sums[0][k] + sums[1][k] + (sums[2][k] + sums[3][k])
			}
		}
	}
}
