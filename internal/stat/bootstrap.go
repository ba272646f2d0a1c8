package stat

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Interval is a mean with its 95% confidence interval.
type Interval struct {
	Mean float64 `json:"mean"` // mean of the observations
	Low  float64 `json:"low"`  // lower end of the interval
	High float64 `json:"high"` // upper end of the interval
}

// Bootstrap draws samples of observations with replacement (Efron, Bootstrap methods, 1979). The field Random is
// required.
type Bootstrap struct {
	Draws int // number of samples to draw; zero means 2,000
	// Block is the number of neighbouring observations that are drawn together, for data in which neighbours depend on
	// each other, such as a time series. Blocks wrap around at the end (Politis, Romano, A circular block-resampling
	// procedure, 1992). Zero means 1.
	Block  int
	Random *rand.Rand
}

// defaultDraws is the default number of bootstrap samples.
const defaultDraws = 2000

// Each calls the function do once per sample, with the n indices of the drawn observations. The slice is valid only
// during the call.
func (b Bootstrap) Each(n int, do func(sample []int)) {
	sample := make([]int, n)
	for range b.draws() {
		for k := 0; k < n; {
			at := b.Random.IntN(n)
			for end := min(n, k+max(1, b.Block)); k < end; k++ {
				sample[k] = at
				if at++; at == n {
					at = 0
				}
			}
		}
		do(sample)
	}
}

func (b Bootstrap) draws() int {
	if b.Draws == 0 {
		return defaultDraws
	}
	return b.Draws
}

// Statistics computes a statistic for each sample of n observations. It returns the values sorted, without NaN.
func (b Bootstrap) Statistics(n int, of func(sample []int) float64) []float64 {
	values := make([]float64, 0, b.draws())
	b.Each(n, func(sample []int) {
		if v := of(sample); !math.IsNaN(v) {
			values = append(values, v)
		}
	})
	slices.Sort(values)
	return values
}

// MeanInterval returns the mean of values with the percentile interval of 2,000 bootstrap samples. It returns the zero
// Interval if there are no values. The same seed always gives the same interval.
func MeanInterval(values []float64, seed uint64) Interval {
	b := Bootstrap{Random: rand.New(rand.NewPCG(seed, 0x626f6f74))} // a separate stream
	means := b.Statistics(len(values), func(sample []int) float64 {
		mean := 0.0
		for _, k := range sample {
			mean += values[k] / float64(len(values))
		}
		return mean
	})
	return percentiles(DividedMean(values), means)
}

// GroupInterval returns a given mean with an interval computed from the values of several groups. It draws whole
// groups, because values in one group can be correlated. At least one group is required, and each must have values.
func GroupInterval(mean float64, groups [][]float64, seed uint64) Interval {
	b := Bootstrap{Random: rand.New(rand.NewPCG(seed, 0x67726f75))} // a separate stream
	means := b.Statistics(len(groups), func(sample []int) float64 {
		sum, count := 0.0, 0
		for _, k := range sample {
			for _, v := range groups[k] {
				sum, count = sum+v, count+1
			}
		}
		return sum / float64(count)
	})
	return percentiles(mean, means)
}

// percentiles returns the 95% interval of a mean from the means of samples.
func percentiles(mean float64, sorted []float64) Interval {
	if len(sorted) == 0 { // all are NaN
		return Interval{mean, math.NaN(), math.NaN()}
	}
	return Interval{mean, Permille(sorted, 25), Permille(sorted, 975)}
}
