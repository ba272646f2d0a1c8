package torch

// #include "graft.h"
import "C"

// Squares holds squared norms of mean gradients, for parts of a batch and for the whole batch. The difference between
// the two norms measures the noise of gradients.
type Squares struct {
	Part     float64 // mean, over the parts, of the squared norm of the part's gradient
	PartRows float64 // harmonic mean of the numbers of rows in the parts
	Whole    float64 // squared norm of the whole batch's gradient
	Rows     float64 // number of rows in the batch
}

// squaresOf reads the squares of a call; zero if there was only one part, or the step was skipped.
func squaresOf(c *C.graft_squares) Squares {
	if c.count < 2 {
		return Squares{}
	}
	return Squares{Part: float64(c.parts / c.count), PartRows: float64(c.count / c.inverse), Whole: float64(c.whole),
		Rows: float64(c.rows)}
}
