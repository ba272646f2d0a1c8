package ramp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"graft/internal/random/numpy"
)

// masses holds the probabilities of values, in the order of the file.
type masses struct{ values, shares []float64 }

// UnmarshalJSON reads an object whose keys are numbers.
func (m *masses) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("probability_mass_function: expected an object that maps values to probabilities")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		value, err := strconv.ParseFloat(key.(string), 64)
		if err != nil {
			return fmt.Errorf("probability_mass_function: the value %q is not a number", key)
		}
		var share float64
		if err := d.Decode(&share); err != nil {
			return err
		}
		m.values, m.shares = append(m.values, value), append(m.shares, share)
	}
	return nil
}

// kind returns the last part of a target's path, such as Fixed.
func (d *distribution) kind() string { return d.Target[strings.LastIndexByte(d.Target, '.')+1:] }

// mostValues limits the values of a distribution.
const mostValues = 10_000_000

// sampler draws values by their probabilities.
type sampler struct {
	values []float64
	sums   []float64 // cumulative probabilities, the last one 1
}

func newSampler(values, shares []float64) *sampler {
	s := &sampler{values: values, sums: make([]float64, len(shares))}
	sum := 0.0
	for k, p := range shares {
		sum += p
		s.sums[k] = sum
	}
	for k := range s.sums {
		s.sums[k] /= sum
	}
	return s
}

// draw implements NumPy's choice with probabilities.
func (s *sampler) draw(r *numpy.Random) float64 {
	u := r.Float64()
	return s.values[sort.Search(len(s.sums)-1, func(k int) bool { return s.sums[k] > u })]
}

// drawer draws from a distribution.
type drawer interface {
	draw(r *numpy.Random) float64
}

// fixed always returns the same value.
type fixed float64

func (f fixed) draw(*numpy.Random) float64 { return float64(f) }

// drawer makes the drawer of a distribution; only CustomSkewNorm draws random numbers for it.
func (d *distribution) drawer(r *numpy.Random) (drawer, error) {
	switch d.kind() {
	case "Fixed":
		return fixed(d.Value), nil
	case "Uniform":
		step := math.Pow(10, -float64(d.decimals()))
		if !(d.Min <= d.Max) || (d.Max-d.Min)/step > mostValues {
			return nil, fmt.Errorf("distribution Uniform from %g to %g with %d decimals: expected ascending bounds "+
				"and at most %d values",
				d.Min, d.Max, d.decimals(), mostValues)
		}
		values := d.grid(step)
		return newSampler(values, slices.Repeat([]float64{1 / float64(len(values))}, len(values))), nil
	case "ProbabilityMassFunction":
		if len(d.Masses.values) == 0 || slices.ContainsFunc(d.Masses.shares,
			func(p float64) bool { return !(p >= 0) }) {
			return nil, fmt.Errorf("distribution ProbabilityMassFunction: expected at least one probability, and " +
				"no negative probability")
		}
		return newSampler(d.Masses.values, d.Masses.shares), nil
	case "CustomSkewNorm":
		if !(d.Min >= 0 && d.Min < d.Max) || d.decimals() > 4 {
			return nil, fmt.Errorf("distribution CustomSkewNorm from %g to %g with %d decimals: expected ascending "+
				"bounds of at least 0, and at most 4 decimals", d.Min, d.Max, d.decimals())
		}
		return newSampler(d.skewed(r)), nil
	}
	return nil, fmt.Errorf("distribution %q is unknown; expected Fixed, Uniform, "+
		"ProbabilityMassFunction or CustomSkewNorm", d.Target)
}

func (d *distribution) decimals() int {
	if d.Decimals == nil {
		return 2
	}
	return *d.Decimals
}

// around implements NumPy's rounding to decimals.
func around(x float64, decimals int) float64 {
	scale := math.Pow(10, float64(decimals))
	return math.RoundToEven(x*scale) / scale
}

// grid returns arange from Min to Max, rounded; NumPy uses the difference of its first two values as the step.
func (d *distribution) grid(step float64) []float64 {
	values := make([]float64, int(math.Ceil((d.Max+step-d.Min)/step)))
	delta := (d.Min + step) - d.Min
	for k := range values {
		values[k] = around(d.Min+float64(float64(k)*delta), d.decimals())
	}
	return values
}

// bins is the number of different values of a skewed distribution, and leastDraws is the minimum number of draws from
// it.
const (
	bins       = 1000
	leastDraws = 50_000
)

// skewed returns values and probabilities of a histogram of a skew normal distribution, scaled so that its extremes are
// 0 and Max; values up to Min become Min. SciPy draws by the representation of Azzalini, "A class of distributions
// which includes the normal ones", Scandinavian Journal of Statistics 12, 1985.
func (d *distribution) skewed(r *numpy.Random) (values, shares []float64) {
	step := math.Pow(10, -float64(d.decimals()))
	n := max(leastDraws, int((d.Max-d.Min)/step*10))
	list := make([]float64, n)
	for k := range list {
		list[k] = r.NormFloat64()
	}
	delta := d.Skewness / math.Sqrt(1+d.Skewness*d.Skewness)
	other := math.Sqrt(1 - delta*delta)
	for k, u := range list {
		x := float64(delta*u) + float64(r.NormFloat64()*other)
		if u < 0 {
			x = -x
		}
		list[k] = x + d.Max
	}
	low := slices.Min(list)
	for k := range list {
		list[k] -= low
	}
	high := slices.Max(list)
	for k := range list {
		if list[k] = list[k] / high * d.Max; list[k] <= d.Min {
			list[k] = d.Min
		}
	}
	r.Float64() // a draw between Min and Min, which replaces values up to Min
	return d.histogram(list)
}

// histogram counts values like NumPy.
func (d *distribution) histogram(list []float64) (values, shares []float64) {
	first, last := slices.Min(list), slices.Max(list)
	edges := make([]float64, bins+1)
	for k := range edges {
		edges[k] = float64(float64(k)*((last-first)/bins)) + first
	}
	edges[bins] = last
	counts := make([]int, bins)
	for _, x := range list {
		k := min(int((x-first)*(bins/(last-first))), bins-1)
		switch {
		case x < edges[k]:
			k--
		case x >= edges[k+1] && k != bins-1:
			k++
		}
		counts[k]++
	}
	for k, n := range counts {
		values, shares = append(values, around(edges[k+1], d.decimals())), append(shares, float64(n)/float64(len(list)))
	}
	return values, shares
}
