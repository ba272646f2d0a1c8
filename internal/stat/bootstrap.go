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

// Bootstrap draws samples from observations with replacement (Efron, Bootstrap
// methods, 1979). Random must be set.
type Bootstrap struct {
	Draws int // number of samples; zero means 2,000
	// Block is the number of neighbouring observations that are drawn together, for example in a time series, whose
	// observations depend on each other; blocks wrap around at the end (Politis, Romano, A circular block-resampling
	// procedure, 1992). Zero means 1.
	Block  int
	Random *rand.Rand
}

// defaultDraws is the default number of bootstrap samples.
const defaultDraws = 2000

// Each calls do once per sample, with the indices of its n observations. The sample is valid during the call.
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

// Statistics computes a statistic of each sample of n observations, and returns the values sorted, without NaN.
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

// MeanInterval returns the mean of values with the percentile interval of 2,000 bootstrap samples; zero if there are no
// values. The same seed gives the same interval.
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

// GroupInterval returns the interval of a mean over the values of several groups. It draws whole groups, because values
// in one group may be correlated. There must be at least one group, and no empty group.
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
