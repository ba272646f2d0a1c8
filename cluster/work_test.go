package cluster

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// usedPlainly subtracts rate from work second by second.
func usedPlainly(work, rate float64, n int64) (float64, int64) {
	steps := int64(0)
	for ; steps < n && work > 0; steps++ {
		work -= rate
	}
	return work, steps
}

// drawWork draws a work and a rate that need at most a few thousand seconds, and often hard rounding.
func drawWork(r *rand.Rand) (work, rate float64) {
	few := func(bits int) float64 { return float64(1 + r.Int64N(1<<bits)) }
	work = math.Ldexp(few(53), r.IntN(60)-50)
	if r.IntN(2) == 0 {
		work = float64(r.Int64N(100_000))
	}
	rate = work / few(12)
	switch r.IntN(9) {
	case 0: // rates of packed jobs
		rate = float64(1+r.IntN(1500)) / 1000
	case 1: // few bits plus half a unit of the work: ties in rounding
		unit := math.Nextafter(work, math.Inf(1)) - work
		rate = math.Ldexp(math.Round(few(52)), -int(r.Int64N(12))-40)*work + unit/2
	case 2: // exact ties: some units and a half
		work = math.Ldexp(float64(1<<52+r.Int64N(1<<52)), -20)
		rate = math.Ldexp(float64(2*(1<<40+r.Int64N(1<<46))+1), -21)
	case 3: // powers of two, and their neighbours
		work = math.Ldexp(1, r.IntN(100)-50)
		rate = math.Ldexp(work, -r.IntN(12))
		rate = []float64{rate, math.Nextafter(rate, 0), math.Nextafter(rate, 1e300)}[r.IntN(3)]
	case 4: // the smallest numbers
		work = math.Ldexp(few(53), -1074)
		rate = math.Ldexp(math.Ceil(few(40)), -1074)
		if work/rate > 1<<12 {
			rate = math.Ceil(work/few(12)/math.SmallestNonzeroFloat64) * math.SmallestNonzeroFloat64
		}
	case 5: // all work in the first second
		rate = work * (1 + r.Float64())
	case 6: // huge numbers
		work = math.Ldexp(few(53), 900)
		rate = work / few(12)
	case 7:
		rate = 1
	}
	return work, rate
}

// used gives, to the last bit, the work that is left after subtraction second by second.
func TestUsed(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	ended := 0
	for range 20_000 {
		work, rate := drawWork(r)
		n := 1 + r.Int64N(5000)
		want, steps := usedPlainly(work, rate, n)
		got, took := used(work, rate, n)
		require.Equal(t, math.Float64bits(want), math.Float64bits(got), "used(%x, %x, %d) is %x and should be %x", work,
			rate, n, got, want)
		require.Equal(t, steps, took, "used(%x, %x, %d)", work, rate, n)
		if want <= 0 {
			ended++
		}
	}
	t.Logf("measured: %d of 20000 works were used up", ended)
	require.Greater(t, ended, 5000)
}

// Continuing from the work that is left gives the same result.
func TestUsedInParts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 20_000 {
		work, rate := drawWork(r)
		n := 2 + r.Int64N(1<<20)
		want, steps := used(work, rate, n)
		first := r.Int64N(n)
		part, before := used(work, rate, first)
		got, after := used(part, rate, n-first)
		require.Equal(t, math.Float64bits(want), math.Float64bits(got), "used(%x, %x, %d) by way of %d", work, rate,
			n, first)
		require.Equal(t, steps, before+after, "used(%x, %x, %d) by way of %d", work, rate, n, first)
	}
}

// If rounding loses the rate, the work never ends, and used returns at once.
func TestUsedNever(t *testing.T) {
	for _, work := range []float64{1 << 60, 1<<60 + 1<<8, math.Ldexp(1, 900), 3e300, math.Inf(1)} {
		for _, rate := range []float64{1e-30, 0.5, 1, math.SmallestNonzeroFloat64, 0x1p6} {
			left, steps := used(work, rate, Never)
			require.Equal(t, work, left)
			require.Equal(t, Never, steps)
		}
	}
}

// Units are half as large below a power of two. Half a unit therefore reduces work below it, and not above.
func TestUsedAtPowersOfTwo(t *testing.T) {
	unit := math.Ldexp(1, -20)
	power := math.Ldexp(1, 32)
	for units := -4; units <= 40; units++ {
		for _, part := range []float64{0.124, 0.125, 0.126, 0.24, 0.25, 0.26, 0.49, 0.5, 0.51, 0.75, 1, 1.2, 1.3, 1.5,
			2.3, 2.5, 2.7} {
			for n := range int64(45) {
				work, rate := power+float64(units)*unit, part*unit
				want, steps := usedPlainly(work, rate, n)
				got, took := used(work, rate, n)
				require.Equal(t, want, got, "%d units above, %v of one, %d seconds", units, part, n)
				require.Equal(t, steps, took)
			}
		}
	}
}

func FuzzUsed(f *testing.F) {
	f.Add(100.0, 0.7, uint16(50))
	f.Add(0x1p32, 0x1p-21, uint16(9))
	f.Add(5e-324, 5e-324, uint16(3))
	f.Fuzz(func(t *testing.T, work, rate float64, n uint16) {
		if !(rate > 0) || math.IsInf(rate, 1) || math.IsNaN(work) {
			return // a pool refuses such rates
		}
		want, steps := usedPlainly(work, rate, int64(n))
		got, took := used(work, rate, int64(n))
		require.Equal(t, math.Float64bits(want), math.Float64bits(got))
		require.Equal(t, steps, took)
	})
}
