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
	least, most [baseRates]float64    // least and most amounts that were measured
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

// dimensions is the number of coordinates of a point.
const dimensions = len(sizes{}) + 4

// Coordinates after the sizes and the blocks of channels.
const (
	fewness  = dimensions - 2 // whether a convolution has few examples
	relation = dimensions - 1 // whether another operator was measured
)

// Indices in the sizes of a convolution.
const (
	areaSize   = 3
	strideSize = 5
	rowsSize   = 6
)

type point [dimensions]float64

const (
	// fewestPoints is the number of measurements below which an operator has no base of its own.
	fewestPoints = 6
	// reach is the distance in logarithms of sizes at which factors begin to differ.
	reach = 4
	// stepOfBlock is the distance between numbers of channels that are multiples of 16, of 8, of 4, and others. Kernels
	// for vector instructions process such blocks, and take up to several times as long for other numbers.
	// The kernels of norms differ more.
	stepOfBlock, stepOfNormBlock = 0.3, 0.65
	// stepOfStride is the distance between strides whose logarithms differ by 1.
	stepOfStride = 2
	// On one thread, LibTorch computes convolutions of one tap by another kernel if a batch has fewer examples than
	// fewRows (ConvParams::use_mkldnn, ATen/native/Convolution.cpp).
	fewRows   = 16
	stepOfFew = 2
	// stepOfRelated is the distance to the measurements of a related operator.
	stepOfRelated = 0.8
	// Weights of logarithms, relative to the weights of other sizes. All steps and weights were chosen by the errors of
	// convolutions, norms and linear layers that were left out of the fit in turn.
	weightOfFootprint, weightOfKinds, weightOfArea, weightOfRows = 0.5, 3, 2, 0.5
	// noise is the relative error of a measured time.
	noise = 0.1
	// leastVariance keeps the factors of operators without variation defined.
	leastVariance = 0.01
	// leastSeconds keeps logarithms finite.
	leastSeconds = 1e-9
)

// newSurface fits a surface to the measurements of an operator. If there are few, the base has the given rates. The
// factors of a related operator, such as a norm without the pool after it, count as measurements at a distance.
func newSurface(own, related []measured, rates [pointTimes][baseRates]float64) *surface {
	s := &surface{least: amountsOf(&own[0].call), most: amountsOf(&own[0].call)}
	for k := range own {
		s.points = append(s.points, pointOf(own[k].call.Name, own[k].call.sizes))
		for i, v := range amountsOf(&own[k].call) {
			s.least[i], s.most[i] = min(s.least[i], v), max(s.most[i], v)
		}
	}
	for k := range related {
		p := pointOf(own[0].call.Name, related[k].call.sizes)
		p[relation] = stepOfRelated
		s.points = append(s.points, p)
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
// median.
func wayOf(all []measured, back int, rates [baseRates]float64) (w way, factors []float64) {
	if len(all) == 0 {
		return w, nil
	}
	if w.rates = rates; len(all) >= fewestPoints {
		w.rates = baseOf(all, back)
	}
	factors = make([]float64, len(all))
	for k := range all {
		factors[k] = math.Log(max(all[k].times[back], leastSeconds) / w.base(amountsOf(&all[k].call)))
	}
	w.factor = stat.Median(factors)
	for k := range factors {
		factors[k] -= w.factor
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

// pointOf returns the coordinates of sizes.
func pointOf(name string, s sizes) (p point) {
	for k, n := range s {
		p[k] = math.Log(float64(max(n, 1))) / reach
	}
	step := stepOfBlock
	if strings.HasPrefix(name, norming) {
		step = stepOfNormBlock
	}
	for k, n := range blockedSizes(name, s) {
		p[len(s)+k] = step * blockOf(n)
	}
	p[footprint] *= weightOfFootprint
	p[kinds] *= weightOfKinds
	if strings.HasPrefix(name, "conv") {
		p[strideSize] *= reach * stepOfStride
		p[areaSize] *= weightOfArea
		p[rowsSize] *= weightOfRows
		if s[areaSize] == 1 && s[strideSize] == 1 && s[rowsSize] < fewRows {
			p[fewness] = stepOfFew
		}
	}
	return p
}

// blockedSizes returns the channels on whose divisibility the time depends.
func blockedSizes(name string, s sizes) [2]int {
	switch {
	case strings.HasPrefix(name, "conv"):
		return [2]int{s[1], s[2]}
	case strings.HasPrefix(name, norming):
		return [2]int{s[1], 0}
	}
	return [2]int{}
}

// blockOf is 0 for multiples of 16, 1 for other multiples of 8, 2 for other multiples of 4, and 3 for other numbers.
func blockOf(n int) float64 {
	for k, block := range []int{16, 8, 4} {
		if n%block == 0 {
			return float64(k)
		}
	}
	return 3
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
	variance := max(deviation*deviation, leastVariance)
	solve(s.covariances(variance), factors)
	for k, f := range factors {
		s.weights[k][back] = variance * f
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
		rows[k][k] += noise * noise
	}
	return rows
}

// similar is the correlation of the factors at two points.
func similar(a, b *point) float64 {
	sum := 0.0
	for k := range a {
		d := a[k] - b[k]
		sum += d * d
	}
	return correlation(sum)
}

// correlation is the correlation of the factors at two points, by the square of their distance.
func correlation(squared float64) float64 {
	r := math.Sqrt(3 * squared)
	return (1 + r) * decay(r)
}

// decays are the values of exp(-x) at multiples of 1/decayParts.
var decays = func() (values [40 * decayParts]float64) {
	for k := range values {
		values[k] = math.Exp(-float64(k) / decayParts)
	}
	return values
}()

const decayParts = 128

// decay is exp(-r) for r of at least 0, which [math.Exp] computes in twice the time. Taylor's polynomial has a relative
// error below 1e-15 within 1/decayParts.
func decay(r float64) float64 {
	k := int(r * decayParts)
	if uint(k) >= uint(len(decays)) {
		return math.Exp(-r)
	}
	t := r - float64(k)*(1./decayParts)
	return decays[k] * (1 - t*(1-t*(1./2-t*(1./6-t*(1./24-t*(1./120))))))
}

// solve solves a symmetric positive definite system in place, by Cholesky's decomposition. The matrix is its lower
// half.
func solve(a [][]float64, x []float64) {
	for k := range a {
		for j := range a[k] {
			sum := a[k][j]
			for i := range j {
				sum -= a[k][i] * a[j][i]
			}
			if j == k {
				a[k][k] = math.Sqrt(sum)
			} else {
				a[k][j] = sum / a[j][j]
			}
		}
	}
	for k := range x {
		for i := range k {
			x[k] -= a[k][i] * x[i]
		}
		x[k] /= a[k][k]
	}
	for k := len(x) - 1; k >= 0; k-- {
		for i := k + 1; i < len(x); i++ {
			x[k] -= a[i][k] * x[i]
		}
		x[k] /= a[k][k]
	}
}

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
	sums, amounts := s.factors(pointOf(c.Name, c.sizes)), amountsOf(c)
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
