package stat

import (
	"math"
	"slices"
)

// Range holds the smallest and the largest possible value of a quantity.
type Range struct{ Low, High float64 }

// Cuts reports whether an interval ends at the smallest or largest possible value, so that it was probably clipped. It
// returns false for a missing interval, and for an interval without width.
func (r Range) Cuts(low, high *float64) bool {
	return low != nil && high != nil && *low < *high && (*low <= r.Low || *high >= r.High)
}

// Common ranges of quantities.
var (
	Unbounded        = Range{math.Inf(-1), math.Inf(1)}
	FromZero         = Range{0, math.Inf(1)}
	Shares           = Range{0, 1}
	Percents         = Range{0, 100}
	ShareDifferences = Range{-1, 1}
)

// FewestSeeds is the minimum number of seeds for which an interval is computed.
const FewestSeeds = 3

// OverSeeds holds the mean of a quantity over seeds and its interval, computed with Student's t-distribution.
type OverSeeds struct {
	N    int      `json:"n"`    // number of values, one per seed
	Mean float64  `json:"mean"` // mean of the values
	Low  *float64 `json:"low"`  // lower end of the interval; null for fewer than three values
	High *float64 `json:"high"` // upper end of the interval; null for fewer than three values
}

// NewOverSeeds computes the mean of the given values, one per seed, and its interval with [TIntervalOf]. The argument
// miss is the probability that the interval does not contain the true mean. The interval is clipped to the range of the
// quantity. Since the true mean lies in that range, clipping does not change the probability.
func NewOverSeeds(values []float64, miss float64, of Range) OverSeeds {
	s := OverSeeds{N: len(values), Mean: Mean(values)}
	if len(values) < FewestSeeds {
		return s
	}
	i := TIntervalOf(values, miss)
	if !slices.ContainsFunc(values, func(v float64) bool { return v != values[0] }) {
		i = Interval{values[0], values[0], values[0]} // rounding gives equal values a deviation
	}
	i.Low, i.High = max(i.Low, of.Low), min(i.High, of.High)
	return OverSeeds{N: len(values), Mean: i.Mean, Low: &i.Low, High: &i.High}
}

// MeansBySeed returns the mean of the values of each seed, in the order in which the seeds first appear. Repetitions of
// a seed say nothing about other seeds, so they count as one value.
func MeansBySeed(seeds []int64, values []float64) (order []int64, means []float64) {
	groups := map[int64][]float64{}
	for k, seed := range seeds {
		if groups[seed] == nil {
			order = append(order, seed)
		}
		groups[seed] = append(groups[seed], values[k])
	}
	for _, seed := range order {
		means = append(means, Mean(groups[seed]))
	}
	return order, means
}

// Interval returns the interval, or nil if there are too few values.
func (s OverSeeds) Interval() *Interval {
	if s.Low == nil {
		return nil
	}
	return &Interval{s.Mean, *s.Low, *s.High}
}
