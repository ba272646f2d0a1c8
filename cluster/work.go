package cluster

import "math"

// used subtracts rate from work once per second, at most n times, until nothing is left. It returns the remaining work
// and the number of seconds.
//
// The result equals n successive subtractions, each rounded, to the last bit, without performing them. As long as the
// result stays between two powers of two, it is a multiple of one unit in the last place u, and each subtraction
// removes rate rounded to a multiple of u. If rate is exactly between two multiples, the even result is taken, and from
// the second subtraction on all results are even. So two subtractions determine the effect of each further one, and the
// rest is an integer multiplication.
func used(work, rate float64, n int64) (float64, int64) {
	if rate == 1 && work < 1<<53 {
		return usedWhole(work, n)
	}
	steps := int64(0)
	for steps < n && work > 0 {
		low := math.Ldexp(0.5, exponent(work)) // largest power of two at or below
		if work-3*rate <= low {
			next := work - rate
			if next == work {
				return work, n // rate is lost in rounding: the work never ends
			}
			work = next
			steps++
			continue
		}
		first := work - rate
		steps++
		if steps == n {
			return first, steps
		}
		second := first - rate
		steps++
		unit := max(low*0x1p-52, math.SmallestNonzeroFloat64)
		each := int64((first - second) / unit)
		over := int64((second-low)/unit) - 1 // so that no exact result is below low
		if each <= 0 {
			return second, n
		}
		more := min(max(over/each, 0), n-steps)
		work = second - float64(more*each)*unit
		steps += more
	}
	return work, steps
}

// usedWhole computes used for a rate of one: every result is exact, since it is a multiple of work's unit in the last
// place and not larger than work.
func usedWhole(work float64, n int64) (float64, int64) {
	steps := min(n, max(0, int64(math.Ceil(work))))
	return work - float64(steps), steps
}

// exponent returns the exponent of a float as [math.Frexp] has it.
func exponent(x float64) int {
	_, e := math.Frexp(x)
	return e
}
