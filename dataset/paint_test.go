package dataset

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkPaint paints images of the default size and noise.
func BenchmarkPaint(b *testing.B) {
	out := make([]byte, 3*32*32)
	for k := range b.N {
		canvas{out, 3, 32}.paint(looks(k%10, false), 40, rand.NewPCG(1, uint64(k)))
	}
}
