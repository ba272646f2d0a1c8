package dense

import "golang.org/x/sys/cpu"

// vectors reports whether the processor has AVX2.
var vectors = cpu.X86.HasAVX2

// addTile adds a product of matrices to a tile of y: each of its 8 rows of 4 values gets inner rows of w
// times the values of a row of x, in their order. Rows of y and w are width values apart; value k of row r of
// x is at r*row + k*step. Products are rounded before they are added, as in Go.
//
//go:noescape
func addTile(y *float64, width int, x *float64, row, step int, w *float64, inner int)

// tanhFours sets y to the tangents of x, four at a time, with the operations of tanh.
//
//go:noescape
func tanhFours(y, x *float64, fours int, table *[12][4]float64)
