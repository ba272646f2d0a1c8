package dense

import "slices"

// batched is a layer that computes a batch faster than its examples one by one, with the same bits. Its methods report
// false, and do nothing, if they are not faster for this batch.
type batched interface {
	forwardBatch(params [][]float64, batch int, x, y []float64) bool
	backwardBatch(s *scratch, params, grads [][]float64, batch int, x, dy, dx []float64) bool
}

// scratch is memory for a transposed matrix, and for parts of sums.
type scratch struct{ panel, sums []float64 }

// strided is a matrix whose value k of row r is at r*row + k*step.
type strided struct {
	values    []float64
	row, step int
}

// Shape of a tile of results. The sums of a tile stay in vector registers.
const (
	tileRows    = 8
	tileColumns = 4
)

// addProduct adds a product of matrices to y: each row of y gets the rows of w, which are as wide as y, times the
// values of a row of x, in their order.
func addProduct(y []float64, width int, x strided, w []float64) {
	rows, inner := len(y)/width, len(w)/width
	if rows == 0 || inner == 0 {
		return
	}
	_ = x.values[(rows-1)*x.row+(inner-1)*x.step] // tiles check no bounds
	tall, wide := 0, 0
	if vectors {
		tall, wide = rows-rows%tileRows, width-width%tileColumns
	}
	for r := 0; r < tall; r += tileRows {
		for c := 0; c < wide; c += tileColumns {
			addTile(&y[r*width+c], width, &x.values[r*x.row], x.row, x.step, &w[c], inner)
		}
	}
	for r := range rows {
		from := wide
		if r >= tall {
			from = 0
		}
		if from < width {
			addRows(y[r*width+from:(r+1)*width], x.values[r*x.row:], x.step, w[from:], width)
		}
	}
}

// filled reports whether computing the whole batch at once is faster than one by one, which skips zeros. It is not if
// seven of eight values of the first example are zero.
func filled(batch int, x []float64) bool {
	in, others := len(x)/max(1, batch), 0
	for _, v := range x[:in] {
		if v != 0 {
			others++
		}
	}
	return batch > 1 && others > in/8
}

// forwardBatch adds inputs in their order, as Forward does.
func (f Full) forwardBatch(params [][]float64, batch int, x, y []float64) bool {
	if !filled(batch, x) {
		return false
	}
	for at := 0; at < len(y); at += f.Width {
		copy(y[at:], params[1])
	}
	addProduct(y, f.Width, strided{x, len(x) / batch, 1}, params[0])
	return true
}

// backwardBatch adds examples in their order, as Backward does.
func (f Full) backwardBatch(s *scratch, params, grads [][]float64, batch int, x, dy, dx []float64) bool {
	if !filled(batch, x) {
		return false
	}
	for b := range batch {
		AddScaled(grads[1], 1, dy[b*f.Width:][:f.Width])
	}
	addProduct(grads[0], f.Width, strided{x, 1, len(x) / batch}, dy)
	if dx != nil {
		f.slopes(s, params[0], dy, dx, len(x)/batch)
	}
	return true
}

// slopes sets the gradients of inputs to the sums of [Dot]: each consists of four sums over every fourth product; the
// first sum also gets the remaining products.
func (f Full) slopes(s *scratch, w, dy, dx []float64, in int) {
	fours := f.Width / 4
	s.panel = s.panel[:0]
	for part := range 4 {
		s.columns(w, f.Width, part, 4*fours, 4)
	}
	s.columns(w, f.Width, 4*fours, f.Width, 1)
	s.sums = slices.Grow(s.sums[:0], 4*len(dx))[:4*len(dx)]
	clear(s.sums)
	for part := range min(4, 4*fours) { // none if a layer has fewer than four outputs
		addProduct(s.sums[part*len(dx):][:len(dx)], in, strided{dy[part:], f.Width, 4},
			s.panel[part*fours*in:][:fours*in])
	}
	addProduct(s.sums[:len(dx)], in, strided{dy[4*fours:], f.Width, 1}, s.panel[4*fours*in:])
	s0, s1, s2, s3 := s.sums[:len(dx)], s.sums[len(dx):][:len(dx)], s.sums[2*len(dx):][:len(dx)],
		s.sums[3*len(dx):][:len(dx)]
	for k := range dx {
		dx[k] = s0[k] + s1[k] + (s2[k] + s3[k])
	}
}

// columns appends every every-th column of a matrix to the panel, as rows.
func (s *scratch) columns(m []float64, width, from, to, every int) {
	for column := from; column < to; column += every {
		for at := column; at < len(m); at += width {
			s.panel = append(s.panel, m[at])
		}
	}
}
