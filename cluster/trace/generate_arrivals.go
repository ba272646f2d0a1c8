package trace

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"
)

// Relative submission rates in a month of the cluster Venus: hours by hour of the day, and weekdays by day of the week
// from Sunday on. Their mean is one.
var (
	hours = [24]float64{0.81, 0.76, 0.68, 0.6, 0.31, 0.27, 0.26, 0.28, 0.39, 0.69, 1.08, 1.29, 1.3, 1.3, 1.65, 1.73,
		1.67, 1.66, 1.34, 1.31, 1.3, 1.43, 1.02, 0.78}
	weekdays = [7]float64{0.44, 1.11, 1.04, 1.58, 1.26, 0.83, 0.42}
)

// together is the share of jobs that arrive in the same second as the previous one, from one user who starts several:
// an eighth, as in Venus.
const together = 0.13

// arrivals generates the seconds of submissions, in order. The partial sums of exponential draws divided by the total
// sum are distributed like sorted uniform points (Devroye 1986, chapter V), so no points are stored or sorted.
type arrivals struct {
	draws *rand.Rand
	total float64   // sum of all gaps
	sum   float64   // sum of the gaps so far
	upTo  []float64 // share of jobs up to the end of each hour; nil means a constant rate
	span  float64   // seconds
	burst float64   // share of jobs that arrive together
	now   int64
	begun bool
}

func newArrivals(o *GenerateOptions) *arrivals {
	a := &arrivals{span: float64(o.Days * secondsOfDay)}
	if o.Arrivals == Diurnal {
		a.upTo, a.burst = profile(o.Start, o.Days), together
	}
	a.draws = stream(o.Seed, streamArrivals)
	for range o.Jobs { // repeats the draws to compute their sum
		if gap, comes := a.gap(); comes {
			a.total += gap
		}
	}
	a.total += a.draws.ExpFloat64()
	a.draws, a.begun = stream(o.Seed, streamArrivals), false
	return a
}

// gap returns the seconds to the next submission; false if it arrives with the previous one.
func (a *arrivals) gap() (float64, bool) {
	if a.burst > 0 && a.begun && a.draws.Float64() < a.burst {
		return 0, false
	}
	a.begun = true
	return a.draws.ExpFloat64(), true
}

// next returns the second of the next submission, and whether it arrives with the previous one.
func (a *arrivals) next() (int64, bool) {
	gap, comes := a.gap()
	if !comes {
		return a.now, true
	}
	a.sum += gap
	a.now = max(a.now, min(int64(a.at(a.sum/a.total)*a.span), int64(a.span)-1))
	return a.now, false
}

// at converts a share of the jobs to a share of the time.
func (a *arrivals) at(share float64) float64 {
	if a.upTo == nil {
		return share
	}
	n := len(a.upTo)
	hour := min(sort.SearchFloat64s(a.upTo, share), n-1)
	before := 0.0
	if hour > 0 {
		before = a.upTo[hour-1]
	}
	inside := (share - before) / (a.upTo[hour] - before)
	return (float64(hour) + math.Min(inside, 1)) / float64(n)
}

// profile returns the share of jobs up to the end of each hour.
func profile(start time.Time, days int) []float64 {
	upTo, sum, first := make([]float64, 24*days), 0.0, int(start.UTC().Weekday())
	for hour := range upTo {
		sum += float64(hours[hour%24] * weekdays[(first+hour/24)%7])
		upTo[hour] = sum
	}
	for hour := range upTo {
		upTo[hour] /= sum
	}
	return upTo
}
