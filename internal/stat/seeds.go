package stat

import (
	"math"
	"slices"
)

// Range holds the least and the largest possible value of a quantity.
type Range struct{ Low, High float64 }

// Ranges of quantities.
var (
	Unbounded        = Range{math.Inf(-1), math.Inf(1)}
	FromZero         = Range{0, math.Inf(1)}
	Shares           = Range{0, 1}
	Percents         = Range{0, 100}
	ShareDifferences = Range{-1, 1}
)

// FewestSeeds is the minimum number of seeds for an interval.
const FewestSeeds = 3

// OverSeeds is a mean over seeds with its interval by Student's t-distribution.
type OverSeeds struct {
	N    int      `json:"n"`    // number of values
	Mean float64  `json:"mean"` // mean of the values
	Low  *float64 `json:"low"`  // lower end of the interval; null below three values
	High *float64 `json:"high"` // upper end of the interval; null below three values
}

// NewOverSeeds summarizes one value per seed by [TIntervalOf]; miss is the share of intervals that may miss the mean.
// The interval is cut to the range of the quantity: its mean lies in the range too, so a cut interval has the same
// coverage as the whole one.
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

// Interval returns the interval; nil if there is none.
func (s OverSeeds) Interval() *Interval {
	if s.Low == nil {
		return nil
	}
	return &Interval{s.Mean, *s.Low, *s.High}
}
