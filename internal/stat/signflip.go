package stat

import (
	"math"
	"math/rand/v2"
)

// Limits of the sign-flip test: up to allFlips values it tries all combinations of signs, otherwise it draws a fixed
// number of combinations.
const (
	allFlips  = 16
	flipDraws = 20000
)

// flipSeed makes the random signs reproducible.
const flipSeed = 1

// SignFlip returns the p-value of Fisher's randomization test for paired differences (The Design of Experiments, 1935).
// It is the probability that the mean difference is at least as far from zero as observed if the sign of each
// difference is random. If the test samples signs at random, the observed signs count as one sample. Sums that differ
// only by rounding are equally far from zero.
func SignFlip(values []float64) float64 {
	sum, largest := 0.0, 0.0
	for _, v := range values {
		sum, largest = sum+v, max(largest, math.Abs(v))
	}
	far := math.Abs(sum) - rounding*largest
	if len(values) <= allFlips {
		return exactFlips(values, far)
	}
	random, hits := rand.New(rand.NewPCG(flipSeed, 0x666c6970)), 1 // a separate stream for flips
	for range flipDraws {
		sum, bits := 0.0, uint64(0)
		for k, v := range values {
			if k%64 == 0 {
				bits = random.Uint64()
			}
			sum += flipped(v, bits>>(k%64))
		}
		if math.Abs(sum) >= far {
			hits++
		}
	}
	return float64(hits) / (flipDraws + 1)
}

func exactFlips(values []float64, far float64) float64 {
	hits, all := 0, 1<<len(values)
	for signs := range all {
		sum := 0.0
		for k, v := range values {
			sum += flipped(v, uint64(signs)>>k)
		}
		if math.Abs(sum) >= far {
			hits++
		}
	}
	return float64(hits) / float64(all)
}

func flipped(v float64, bit uint64) float64 {
	if bit&1 == 1 {
		return -v
	}
	return v
}
