package cluster

import (
	"math"
	"math/rand/v2"

	"graft/cluster/trace"
	"graft/internal/stat"
)

// Difference is a mean difference of completion times between two outcomes, in
// seconds, with an interval of confidence.
type Difference struct {
	Mean, Low, High float64
	Windows         int // of submission, in which jobs were drawn together
}

// Interval is a mean with an interval of confidence.
type Interval = Difference

const (
	windowLength = 86_400 // seconds: jobs of a day depend on each other, those of different days less
	draws        = 1_000
	confidence   = 0.95
	bootstrap    = 0x5eed // the draws' seed: the same outcome has the same interval
)

// Missing is the completion time of a job that was not simulated.
const Missing = int64(-1)

// Completions returns the completion times of a study's jobs, in its order, for comparisons with
// other outcomes.
func (o *Outcome) Completions() []int64 {
	list := make([]int64, o.Given)
	for k := range list {
		list[k] = Missing
	}
	for _, j := range o.Jobs {
		list[j.Index] = j.Completion()
	}
	return list
}

// OverDays returns the mean of a value of each job; NaN for none. The interval is a bootstrap over
// days of submission, all jobs of a day together (Künsch, The jackknife and the bootstrap
// for general stationary observations, 1989); it needs two days at least, and is NaN else.
func OverDays(jobs []trace.Job, values []float64) Interval {
	return overWindows(jobs, func(k int) (float64, bool) { return values[k], !math.IsNaN(values[k]) })
}

// overWindows returns the mean of a value of jobs, with its interval over days.
func overWindows(jobs []trace.Job, value func(k int) (float64, bool)) Interval {
	var windows []share
	total := share{}
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
		total.add(x)
	}
	i := Interval{Mean: total.sum / float64(total.count), Low: math.NaN(), High: math.NaN(), Windows: len(windows)}
	if len(windows) < 2 {
		return i
	}
	b := stat.Bootstrap{Draws: draws, Random: rand.New(rand.NewPCG(bootstrap, uint64(len(windows))))}
	i.Low, i.High = stat.Middle(b.Statistics(len(windows), func(sample []int) float64 {
		drawn := share{}
		for _, k := range sample {
			drawn.sum, drawn.count = drawn.sum+windows[k].sum, drawn.count+windows[k].count
		}
		return drawn.sum / float64(drawn.count)
	}), confidence)
	return i
}
