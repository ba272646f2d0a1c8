package torch

// #include "graft.h"
import "C"

// Squares are squared norms of mean gradients: of parts of a batch, and of the whole batch. Their difference gives the
// noise of gradients.
type Squares struct {
	Part     float64 // mean over the parts
	PartRows float64 // harmonic mean of the parts' rows
	Whole    float64 // squared norm for the whole batch
	Rows     float64 // rows of the batch
}

// squaresOf reads the squares of a call; zero if there was only one part, or the step was skipped.
func squaresOf(c *C.graft_squares) Squares {
	if c.count < 2 {
		return Squares{}
	}
	return Squares{Part: float64(c.parts / c.count), PartRows: float64(c.count / c.inverse), Whole: float64(c.whole),
		Rows: float64(c.rows)}
}
