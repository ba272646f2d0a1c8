package goodput

import "math"

// Squares holds the squared norms of mean gradients, measured in one step.
type Squares struct {
	Part     float64 // squared norm of a part's gradient, averaged over the parts of the batch
	PartRows float64 // harmonic mean of the number of examples per part
	Whole    float64 // squared norm of the whole batch's gradient
	Rows     float64 // number of examples in the batch
}

// Moments holds estimated statistics of gradients. An estimate from one step can be negative.
type Moments struct {
	Square   float64 // squared norm of the expected gradient
	Variance float64 // variance of the gradient of one example, summed over parameters
}

// Scale returns the noise scale: the batch size at which the variance of the gradient equals the squared norm of the
// gradient. Zero means that the gradient cannot be distinguished from its noise.
func (m Moments) Scale() float64 {
	if !(m.Square > 0) {
		return 0
	}
	return m.Variance / m.Square
}

// Moments returns unbiased estimates of the gradient's statistics from one step. The estimator of McCandlish et al.
// (2018, appendix A.1) is generalised to parts of different sizes. It returns false if no estimate is possible: with a
// single part, or if the squares are not finite.
func (s Squares) Moments() (m Moments, ok bool) {
	if !(s.PartRows > 0 && s.PartRows < s.Rows) {
		return Moments{}, false
	}
	m.Square = (s.Rows*s.Whole - s.PartRows*s.Part) / (s.Rows - s.PartRows)
	m.Variance = (s.Part - s.Whole) / (1/s.PartRows - 1/s.Rows)
	sum := m.Square + m.Variance
	return m, !math.IsNaN(sum) && !math.IsInf(sum, 0)
}

// HalfLife is the number of measurements after which the weight of a measurement in an [Average] has halved.
const HalfLife = 16

// Average is an exponential average of moments over steps. The two moments are averaged separately, since the mean of
// their ratio is biased. Weight corrects the initial bias (Kingma and Ba 2015, section 3).
type Average struct {
	Square   float64 `json:"square"`   // weighted sum of the squared gradients
	Variance float64 `json:"variance"` // weighted sum of the variances
	Weight   float64 `json:"weight"`   // sum of the weights
	Count    int     `json:"count"`    // number of measurements
}

// Add adds a measurement to the averages.
func (a *Average) Add(m Moments) {
	keep := math.Exp2(-1.0 / HalfLife)
	a.Square = float64(keep*a.Square) + float64((1-keep)*m.Square)
	a.Variance = float64(keep*a.Variance) + float64((1-keep)*m.Variance)
	a.Weight = float64(keep*a.Weight) + (1 - keep)
	a.Count++
}

// Moments returns the averages, with negative averages replaced by zero. The averages are zero before the first
// measurement.
func (a Average) Moments() Moments {
	if a.Count == 0 {
		return Moments{}
	}
	return Moments{max(0, a.Square/a.Weight), max(0, a.Variance/a.Weight)}
}

// Noise returns the noise statistics for a job whose minimum batch size is the given number of examples.
func (a Average) Noise(least int) Noise {
	m := a.Moments()
	return Noise{Square: m.Square, Variance: m.Variance / float64(least)}
}
