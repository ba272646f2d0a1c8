package cluster

import (
	"math"
	"math/rand/v2"
	"slices"

	"graft/cluster/trace"
	"graft/internal/stat"
)

// Difference is a mean difference of completion times between two outcomes, in seconds, with its confidence interval.
type Difference struct {
	Mean, Low, High float64
	// number of blocks with submissions; the bootstrap draws the jobs of a block together. A block is a day, or several
	// days if jobs of successive days depend on each other, as with queues that last longer than a day
	Windows int
}

// Interval is a mean with its confidence interval.
type Interval = Difference

const (
	windowLength = 86_400 // seconds; jobs of one day depend on each other more than jobs of different days
	fewestBlocks = 8      // of the bootstrap, if blocks have several days
	draws        = 1_000
	confidence   = 0.95
	bootstrap    = 0x5eed // seed of the draws: equal outcomes have equal intervals
)

// Completions returns the completion times of a study's jobs in seconds, in the order of the study, for comparisons
// with other outcomes. A job that was not simulated has the completion time NaN.
func (o *Outcome) Completions() []float64 {
	list := make([]float64, o.Given)
	for k := range list {
		list[k] = math.NaN()
	}
	for _, j := range o.Jobs {
		list[j.Index] = float64(j.Completion())
	}
	return list
}

// OverDays returns the mean of the values and its confidence interval; the list "values" has one value for each job.
// The mean is NaN if there are no jobs. The interval comes from a bootstrap over submission days, which samples all
// jobs of a day together (Künsch, The jackknife and the bootstrap for general stationary observations, 1989). If the
// means of successive days are correlated, it samples blocks of several days. With fewer than two days, the interval is
// NaN.
func OverDays(jobs []trace.Job, values []float64) Interval {
	return overWindows(jobs, func(k int) (float64, bool) { return values[k], !math.IsNaN(values[k]) })
}

// overWindows returns the mean of a value of jobs, with its interval over days.
func overWindows(jobs []trace.Job, value func(k int) (float64, bool)) Interval {
	windows := windowsOf(jobs, value)
	windows = joined(windows, blockOf(windows))
	total := sumOf(windows)
	i := Interval{Mean: total.sum / float64(total.count), Low: math.NaN(), High: math.NaN(), Windows: len(windows)}
	if len(windows) < 2 {
		return i
	}
	i.Low, i.High = stat.Middle(bootstrapOf(len(windows)).Statistics(len(windows), func(sample []int) float64 {
		drawn := share{}
		for _, k := range sample {
			drawn.join(windows[k])
		}
		return drawn.sum / float64(drawn.count)
	}), confidence)
	return i
}

func bootstrapOf(windows int) stat.Bootstrap {
	return stat.Bootstrap{Draws: draws, Random: rand.New(rand.NewPCG(bootstrap, uint64(windows)))}
}

// windowsOf sums the values of the jobs of each day; a job without a value does not count.
func windowsOf(jobs []trace.Job, value func(k int) (float64, bool)) (windows []share) {
	day := int64(math.MinInt64)
	for k := range jobs {
		x, has := value(k)
		if !has {
			continue
		}
		if d := jobs[k].Submit / windowLength; d != day {
			day, windows = d, append(windows, share{})
		}
		windows[len(windows)-1].add(x)
	}
	return windows
}

// blockOf returns the number of windows in a block. It is doubled until the means of successive blocks are no longer
// significantly correlated (one-sided, at 5%), as for batch means (Law and Carson, A sequential procedure for
// determining the length of a steady-state simulation, 1979), or until few blocks remain.
func blockOf(windows []share) (block int) {
	const oneSided = 1.645
	for block = 1; len(windows) >= 2*fewestBlocks*block; block *= 2 {
		blocks := joined(windows, block)
		means := make([]float64, len(blocks))
		for k, b := range blocks {
			means[k] = b.sum / float64(b.count)
		}
		if successive(means) <= oneSided/math.Sqrt(float64(len(means))) {
			break
		}
	}
	return block
}

// successive returns the correlation of successive values; zero for equal values.
func successive(values []float64) float64 {
	mean, covariance, variance := stat.Mean(values), 0.0, 0.0
	for k, v := range values {
		variance += (v - mean) * (v - mean)
		if k > 0 {
			covariance += (v - mean) * (values[k-1] - mean)
		}
	}
	if variance == 0 {
		return 0
	}
	return covariance / variance
}

// joined sums windows in blocks. The last block can be shorter.
func joined(windows []share, block int) (blocks []share) {
	if block == 1 {
		return windows
	}
	for some := range slices.Chunk(windows, block) {
		blocks = append(blocks, sumOf(some))
	}
	return blocks
}

func sumOf(windows []share) (total share) {
	for _, w := range windows {
		total.join(w)
	}
	return total
}

// OverDaysAndSeeds returns the mean of values and its confidence interval over days and seeds; the list "values" has
// one value for each job, for each seed. The bootstrap draws days and seeds independently (Owen, The pigeonhole
// bootstrap, 2007), days in blocks as OverDays does. It draws one seed fewer than there are, because the variance of a
// bootstrap sample of n values is (n-1)/n of theirs (Rao and Wu, Resampling inference with complex survey data, 1988).
// With fewer than two days or seeds, the interval is NaN.
func OverDaysAndSeeds(jobs []trace.Job, values [][]float64) Interval {
	seeds, total, days := make([][]share, len(values)), share{}, 0
	for k, list := range values {
		seeds[k] = windowsOf(jobs, func(j int) (float64, bool) { return list[j], !anyNaN(values, j) })
		total.join(sumOf(seeds[k]))
	}
	block := blockOf(overSeeds(seeds))
	for k := range seeds {
		seeds[k] = joined(seeds[k], block)
		days = len(seeds[k])
	}
	i := Interval{Mean: total.sum / float64(total.count), Low: math.NaN(), High: math.NaN(), Windows: days}
	if days < 2 || len(seeds) < 2 {
		return i
	}
	b := bootstrapOf(days)
	i.Low, i.High = stat.Middle(b.Statistics(days, func(sample []int) float64 {
		drawn := share{}
		for range len(seeds) - 1 {
			seed := seeds[b.Random.IntN(len(seeds))]
			for _, k := range sample {
				drawn.join(seed[k])
			}
		}
		return drawn.sum / float64(drawn.count)
	}), confidence)
	return i
}

// overSeeds sums the windows of all seeds, which have the same days.
func overSeeds(seeds [][]share) (sums []share) {
	for k := range seeds {
		if sums == nil {
			sums = make([]share, len(seeds[k]))
		}
		for d := range sums {
			sums[d].join(seeds[k][d])
		}
	}
	return sums
}

// anyNaN reports whether a job has no value for some seed.
func anyNaN(values [][]float64, job int) bool {
	return slices.ContainsFunc(values, func(list []float64) bool { return math.IsNaN(list[job]) })
}
