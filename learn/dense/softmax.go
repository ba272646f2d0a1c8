package dense

import (
	"math"
	"slices"
)

// Softmax returns the probabilities for logits. The argument width is the number of logits per example.
func Softmax(logits []float64, width int) []float64 {
	p := make([]float64, len(logits))
	for at := 0; at < len(p); at += width {
		most, sum := slices.Max(logits[at:at+width]), 0.0
		for k := at; k < at+width; k++ {
			p[k] = math.Exp(logits[k] - most)
			sum += p[k]
		}
		for k := at; k < at+width; k++ {
			p[k] /= sum
		}
	}
	return p
}
