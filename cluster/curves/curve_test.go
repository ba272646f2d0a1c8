package curves

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// drawCurve draws a curve with effects as large as in tables.
func drawCurve(r *rand.Rand) *Curve {
	terms := func(initial, effect float64) Terms {
		return Terms{initial + r.NormFloat64()/2, effect * r.NormFloat64(), effect * r.NormFloat64()}
	}
	c := &Curve{Name: "drawn", Chance: 1 - 1/float64(2+r.IntN(20)), Power: powers[r.IntN(len(powers))], Actions: 3,
		Rate: terms(1.5, 0.3), Floor: terms(0, 0.3), Loss: terms(usualLoss, 1),
		Step: Terms{0, 0.3 * r.Float64(), 0.3 * r.Float64()}, First: 0.3 * r.Float64()}
	c.Loss = Terms{0, usualLoss + r.NormFloat64(), usualLoss + r.NormFloat64()}
	return c
}

// Training in two parts equals training in one, and Needs inverts Train.
func TestCurves(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		c, n := drawCurve(r), Network{r.IntN(3), r.IntN(3)}
		e, x, y := c.Chance*(0.3+0.7*r.Float64()), r.Float64(), r.Float64()
		once := c.Train(n, e, x+y)
		require.InDelta(t, once, c.Train(n, c.Train(n, e, x), y), 1e-12)
		require.LessOrEqual(t, once, e)
		if floor := c.floor(n); e > floor {
			require.Greater(t, once, floor)
			require.InDelta(t, x+y, c.Needs(n, e, once), 1e-6)
			require.True(t, math.IsInf(c.Needs(n, e, floor), 1))
		} else {
			require.Equal(t, e, once, "a network below its floor learns nothing")
		}
		require.Zero(t, c.Needs(n, e, e))
		for k := range Kind(kinds) {
			grown := c.Grow(k, e)
			require.GreaterOrEqual(t, grown, e)
			require.LessOrEqual(t, grown, c.Chance)
		}
		require.NoError(t, c.validate())
	}
	require.Equal(t, "deepen widen", Deepen.String()+" "+Widen.String())
}
