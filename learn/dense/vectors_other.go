//go:build !amd64

package dense

// vectors is false: everything is computed in Go and nothing calls the functions below.
const vectors = false

func addTile(y *float64, width int, x *float64, row, step int, w *float64, inner int) {}

func tanhFours(y, x *float64, fours int, table *[12][4]float64) {}
