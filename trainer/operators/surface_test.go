package operators

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// correlationError is above the error of correlation.
const correlationError = 3e-10

func TestCorrelation(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	exact := func(squared float64) float64 { return (1 + math.Sqrt(3*squared)) * math.Exp(-math.Sqrt(3*squared)) }
	for _, s := range []float64{0, 1e-30, 1. / (3 * decayParts * decayParts), farthest, math.Nextafter(farthest, 0),
		2 * farthest, math.Inf(1)} {
		assert.InDelta(t, exact(min(s, 1e9)), correlation(s), correlationError, "s = %v", s)
	}
	for range 1000 {
		s := 1.1 * farthest * random.Float64() * random.Float64()
		assert.InDelta(t, exact(s), correlation(s), correlationError, "s = %v", s)
	}
	assert.InDelta(t, 1, correlation(0), 0)
}

// The factors at any point are the sums of the weights by the correlations over all dimensions, including dimensions in
// which the measured points are equal.
func TestFactorsAreSumsOverPoints(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var all []measured
	for range 40 {
		of := sizes{1 + random.IntN(4096), 1 + random.IntN(64), 1 + random.IntN(64), 9, 1, 1, 64, 1 << random.IntN(9)}
		m := measured{call: Call{Name: "conv2d", Operations: 1e6 * random.Float64(), Bytes: 1e5 * random.Float64(),
			sizes: of}}
		for k := range m.times {
			m.times[k] = 1e-3 * (0.1 + random.Float64())
		}
		all = append(all, m)
	}
	s := newSurface(all, nil, [pointTimes][baseRates]float64{})
	for _, c := range []sizes{all[3].call.sizes, {100, 7, 48, 9, 1, 1, 64, 128}, {100, 8, 16, 1, 2, 2, 5, 128}} {
		at, want := pointOf("conv2d", c, false), [pointTimes]float64{}
		for k := range s.points {
			squared := 0.0
			for d := range at {
				squared += (at[d] - s.points[k][d]) * (at[d] - s.points[k][d])
			}
			r := math.Sqrt(3 * squared)
			for back := range want {
				want[back] += (1 + r) * math.Exp(-r) * s.weights[k][back]
			}
		}
		for back, sum := range s.factors(at) {
			assert.InDelta(t, want[back], sum, 1e-8)
		}
	}
}

// Points that are spread cover the corners of all points before they fill the middle, and keep their order.
func TestPointsAreSpread(t *testing.T) {
	var points []point
	for k := range 100 {
		points = append(points, point{float64(k % 10), float64(k / 10)})
	}
	assert.Equal(t, []int{0, 9, 90, 99}, spread(points, 4))
	assert.Len(t, spread(points, 200), 100, "all of them")
	assert.Equal(t, []int{0}, spread([]point{{1}, {1}}, 1))
	assert.Equal(t, []int{0, 1}, spread([]point{{1}, {1}}, 2), "equal points are different measurements")
	assert.Empty(t, spread(nil, 3))
}

// Convolutions that LibTorch computes by different kernels are far apart, although their sizes are close.
func TestConvolutionsOfDifferentKernels(t *testing.T) {
	at := func(side, in, out, kernel, rows int) point {
		return pointOf("conv2d", sizes{side * side * rows, in, out, kernel * kernel, 1, 1, rows}, false)
	}
	apart := func(a, b point) float64 { return math.Sqrt(distance(&a, &b)) }
	assert.Greater(t, apart(at(1, 320, 320, 1, 8), at(2, 320, 320, 1, 8)), 1.5, "one pixel of few examples, and four")
	assert.Less(t, apart(at(1, 320, 320, 1, 32), at(2, 320, 320, 1, 32)), 0.5, "one pixel of many examples")
	assert.Less(t, apart(at(16, 32, 32, 1, 8), at(32, 32, 32, 1, 8)), 0.5, "many pixels")
	assert.Greater(t, apart(at(2, 512, 512, 3, 8), at(2, 512, 496, 3, 8)), 0.5, "512 channels use few sets of a cache")
	assert.Less(t, apart(at(8, 512, 512, 3, 8), at(8, 512, 496, 3, 8)), 0.1, "larger images have another kernel")
	for n, want := range map[int]float64{0: 0, 3: 0, 128: 0, 384: 0, 256: 1, 768: 1, 512: 2, 1024: 3, 4096: 3} {
		assert.InDelta(t, want, aliasingOf(n), 0, n)
	}
}
