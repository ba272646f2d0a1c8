package operators

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDecayIsTheExponential(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, r := range []float64{0, 1. / decayParts, math.Nextafter(1./decayParts, 0), 39.999, 40, 41, 800} {
		assert.InDelta(t, math.Exp(-r), decay(r), 1e-15*math.Exp(-r), "r = %v", r)
	}
	for range 1000 {
		r := 45 * random.Float64()
		assert.InEpsilon(t, math.Exp(-r), decay(r), 1e-15, "r = %v", r)
	}
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
			assert.InDelta(t, want[back], sum, sameTime*math.Abs(want[back])+1e-14)
		}
	}
}
