package torch

// #include "graft.h"
import "C"

// Squares are squared norms of mean gradients: of parts of a batch, and of the whole. From their
// difference follows the noise of gradients.
type Squares struct {
	Part     float64 // mean over the parts
	PartRows float64 // harmonic mean of the parts' rows
	Whole    float64 // of the batch
	Rows     float64 // of the batch
}

// squaresOf reads the squares of a call; zero where there was one part only, or the step was skipped.
func squaresOf(c *C.graft_squares) Squares {
	if c.count < 2 {
		return Squares{}
	}
	return Squares{Part: float64(c.parts / c.count), PartRows: float64(c.count / c.inverse), Whole: float64(c.whole),
		Rows: float64(c.rows)}
}
