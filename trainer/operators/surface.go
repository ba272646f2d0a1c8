package operators

import (
	"math"
	"slices"
	"strings"

	"graft/internal/stat"
)

// surface predicts the times of an operator from its sizes, if it was measured with many of them. The time is a base of
// a constant, operations and bytes at rates that are never negative, multiplied by a factor. The logarithm of the
// factor is interpolated by kriging: a Gaussian process with a Matérn covariance of smoothness 3/2 (Rasmussen and
// Williams, Gaussian Processes for Machine Learning, 2006, sections 2.2 and 4.2) on the logarithms of the sizes. Far
// from all measurements, the factor is the median factor.
type surface struct {
	points      []point
	weights     [][pointTimes]float64 // of the points, by time
	ways        [pointTimes]way       // by time
	variances   [pointTimes]float64   // of the factors, by time
	least, most [baseRates]float64    // least and most amounts that were measured
	noise       float64               // relative error of a measured time
	// The dimensions in which points differ, and their coordinates, point by point. The other coordinates are equal.
	varying     []int
	coordinates []float64
}

// way predicts one of the times.
type way struct {
	rates  [baseRates]float64
	factor float64 // median of the logarithms of the factors
}

// baseRates is the number of rates of a base: seconds per call, operation, byte, and weight or byte of a slower
// kernel.
const baseRates = 4

const (
	// fewestPoints is the number of measurements below which an operator has no base of its own.
	fewestPoints = 6
	// leastVariance keeps the factors of operators without variation defined.
	leastVariance = 0.01
	// leastSeconds keeps logarithms finite.
	leastSeconds = 1e-9
)

// newSurface fits a surface to the measurements of an operator. If there are few, the base has the given rates. The
// factors of a related operator, such as a norm without the pool after it, count as measurements at a distance.
func newSurface(own, related []measured, rates [pointTimes][baseRates]float64) *surface {
	s := &surface{least: amountsOf(&own[0].call), most: amountsOf(&own[0].call),
		noise: weightsOf[familyOf(own[0].call.Name)].noise}
	for k := range own {
		s.points = append(s.points, pointOf(own[k].call.Name, own[k].call.sizes, false))
		for i, v := range amountsOf(&own[k].call) {
			s.least[i], s.most[i] = min(s.least[i], v), max(s.most[i], v)
		}
	}
	for k := range related {
		s.points = append(s.points, pointOf(own[0].call.Name, related[k].call.sizes, true))
	}
	s.weights = make([][pointTimes]float64, len(s.points))
	for back := range s.ways {
		w, factors := wayOf(own, back, rates[back])
		_, others := wayOf(related, back, rates[back])
		s.ways[back] = w
		s.fit(append(factors, others...), back)
	}
	s.vary()
	return s
}

// wayOf fits a time of an operator. It returns the logarithms of the factors of the measurements, relative to the
// median. Measurements without this time have the median factor.
func wayOf(all []measured, back int, rates [baseRates]float64) (w way, factors []float64) {
	if len(all) == 0 {
		return w, nil
	}
	if w.rates = rates; len(all) >= fewestPoints {
		w.rates = baseOf(all, back)
	}
	factors = make([]float64, len(all))
	var known []float64
	for k := range all {
		if all[k].times[back] > 0 {
			factors[k] = math.Log(max(all[k].times[back], leastSeconds) / w.base(amountsOf(&all[k].call)))
			known = append(known, factors[k])
		}
	}
	if len(known) > 0 {
		w.factor = stat.Median(known)
	}
	for k := range factors {
		if all[k].times[back] > 0 {
			factors[k] -= w.factor
		}
	}
	return w, factors
}

// vary finds the dimensions in which points differ.
func (s *surface) vary() {
	for d := range dimensions {
		if slices.ContainsFunc(s.points, func(p point) bool { return p[d] != s.points[0][d] }) {
			s.varying = append(s.varying, d)
		}
	}
	for k := range s.points {
		for _, d := range s.varying {
			s.coordinates = append(s.coordinates, s.points[k][d])
		}
	}
}

// amountsOf returns what the rates of a base are multiplied by. Convolutions and linear layers have weights, which
// kernels bring into another order. Norms have a slower kernel if the number of channels is not a multiple of 16; then
// their bytes count a second time.
func amountsOf(c *Call) [baseRates]float64 {
	s, more := &c.sizes, 0.0
	switch {
	case strings.HasPrefix(c.Name, "conv"):
		more = float64(s[1]) * float64(s[2]) * float64(s[3])
	case strings.HasPrefix(c.Name, "linear"):
		more = float64(s[1]) * float64(s[2])
	case strings.HasPrefix(c.Name, norming) && blockOf(s[1]) > 0:
		more = c.Bytes
	}
	return [baseRates]float64{1, c.Operations, c.Bytes, more}
}

const norming = "batch_norm"

// fit computes the weights of the points from their factors.
func (s *surface) fit(factors []float64, back int) {
	_, deviation := stat.Population(factors)
	s.variances[back] = max(deviation*deviation, leastVariance)
	stat.NewCholesky(s.covariances(s.variances[back])).Solve(factors)
	for k, f := range factors {
		s.weights[k][back] = s.variances[back] * f
	}
}

// covariances returns the lower half of the covariances of the points, with the noise on the diagonal.
func (s *surface) covariances(variance float64) [][]float64 {
	rows := make([][]float64, len(s.points))
	for k := range rows {
		rows[k] = make([]float64, k+1)
		for j := range rows[k] {
			rows[k][j] = variance * similar(&s.points[k], &s.points[j])
		}
		rows[k][k] += s.noise * s.noise
	}
	return rows
}

// similar is the correlation of the factors at two points.
func similar(a, b *point) float64 { return correlation(distance(a, b)) }

// distance is the square of the distance of two points.
func distance(a, b *point) (sum float64) {
	for k := range a {
		d := a[k] - b[k]
		sum += d * d
	}
	return sum
}

// correlation is the correlation of the factors at two points, by the square of their distance. It is zero from
// farthest on, where it is less than 1e-15.
func correlation(squared float64) float64 {
	if squared >= farthest {
		return 0
	}
	r := math.Sqrt(3 * squared)
	k := int(r * decayParts)
	t := r - float64(k)*(1./decayParts)
	return (1 + r) * decays[k&(len(decays)-1)] * (1 - t*(1-t*(1./2-t*(1./6-t*(1./24)))))
}

// farthest is the square of the largest distance with a correlation, at which the argument of the exponential is 40.
const farthest = 40. * 40 / 3

// decays are the values of exp(-x) at multiples of 1/decayParts. Taylor's polynomial of exp(-t) has a relative error
// below 3e-10 within 1/decayParts, in less than half of the time of [math.Exp]. The length is a power of two, so that
// masked indices need no check.
var decays = func() (values [2048]float64) {
	for k := range values {
		values[k] = math.Exp(-float64(k) / decayParts)
	}
	return values
}()

const decayParts = 32

// base is the time at the fitted rates.
func (w *way) base(amounts [baseRates]float64) float64 {
	sum := 0.0
	for k, amount := range amounts {
		sum += w.rates[k] * amount
	}
	return max(leastSeconds, sum)
}

// seconds returns the times of a call.
func (s *surface) seconds(c *Call) (times [pointTimes]float64) {
	sums, amounts := s.factors(pointOf(c.Name, c.sizes, false)), amountsOf(c)
	for back := range times {
		w := &s.ways[back]
		times[back] = w.base(amounts) * math.Exp(w.factor+sums[back])
	}
	return times
}

// factors returns the logarithms of the interpolated factors at a point, relative to the median factors.
func (s *surface) factors(at point) (sums [pointTimes]float64) {
	equal, varying := 0.0, make([]float64, 0, dimensions)
	for d, v := range at {
		if next := len(varying); next < len(s.varying) && s.varying[next] == d {
			varying = append(varying, v)
		} else {
			equal += (v - s.points[0][d]) * (v - s.points[0][d])
		}
	}
	rest := s.coordinates
	for k := range s.weights {
		squared := equal
		for d, v := range rest[:len(varying)] {
			squared += (varying[d] - v) * (varying[d] - v)
		}
		rest = rest[len(varying):]
		close, w := correlation(squared), &s.weights[k]
		sums[0], sums[1], sums[2] = sums[0]+close*w[0], sums[1]+close*w[1], sums[2]+close*w[2]
	}
	return sums
}

// rangeOf returns whether the amounts of a call lie between the measured ones.
func (s *surface) rangeOf(c *Call) callRange {
	for k, v := range amountsOf(c) {
		if v < s.least[k]/nearby || v > s.most[k]*nearby {
			return beyondRange
		}
	}
	return betweenRange
}
