package dense

import "golang.org/x/sys/cpu"

// vectors reports whether the processor has AVX.
var vectors = cpu.X86.HasAVX

// addTile adds a product of matrices to a tile of y: each of its 8 rows of 4 values gets inner rows of w
// times the values of a row of x, in their order. Rows of y and w are width values apart; value k of row r of
// x is at r*row + k*step. Products are rounded before they are added, as in Go.
//
//go:noescape
func addTile(y *float64, width int, x *float64, row, step int, w *float64, inner int)
