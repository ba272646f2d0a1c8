package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Difference is how much longer jobs take on average in one outcome than in another, in
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

// CompletionOf is the mean completion time of an outcome. The interval is a bootstrap over
// days of submission, all jobs of a day together (Künsch, The jackknife and the bootstrap
// for general stationary observations, 1989); it needs two days at least, and is NaN else.
func CompletionOf(o *Outcome) Interval {
	return overWindows(o.Jobs, func(k int) float64 { return float64(o.Jobs[k].Completion()) })
}

// Compare is the difference in completion time between two outcomes of the same jobs,
// a's less b's, job by job. Jobs that one of them did not simulate are left out.
func Compare(a, b *Outcome) Difference {
	if len(a.Jobs) == len(b.Jobs) && slices.EqualFunc(a.Jobs, b.Jobs, func(x, y *Job) bool { return x.Trace.ID == y.Trace.ID }) {
		return overWindows(a.Jobs, func(k int) float64 { return float64(a.Jobs[k].Completion() - b.Jobs[k].Completion()) })
	}
	others := make(map[string]*Job, len(b.Jobs))
	for _, j := range b.Jobs {
		others[j.Trace.ID] = j
	}
	var common []*Job
	for _, j := range a.Jobs {
		if others[j.Trace.ID] != nil {
			common = append(common, j)
		}
	}
	return overWindows(common, func(k int) float64 {
		return float64(common[k].Completion() - others[common[k].Trace.ID].Completion())
	})
}

// overWindows is the mean of a value of jobs, and its interval over days.
func overWindows(jobs []*Job, value func(k int) float64) Interval {
	var windows []share
	total := share{}
	day := int64(math.MinInt64)
	for k, j := range jobs {
		if d := j.Trace.Submit / windowLength; d != day {
			day, windows = d, append(windows, share{})
		}
		x := value(k)
		windows[len(windows)-1].add(x)
		total.add(x)
	}
	i := Interval{Mean: total.sum / float64(total.count), Low: math.NaN(), High: math.NaN(), Windows: len(windows)}
	if len(windows) < 2 {
		return i
	}
	rng := rand.New(rand.NewPCG(bootstrap, uint64(len(windows))))
	means := make([]float64, draws)
	for d := range means {
		drawn := share{}
		for range windows {
			w := windows[rng.IntN(len(windows))]
			drawn.sum, drawn.count = drawn.sum+w.sum, drawn.count+w.count
		}
		means[d] = drawn.sum / float64(drawn.count)
	}
	slices.Sort(means)
	tail := (1 - confidence) / 2
	i.Low, i.High = means[int(tail*draws)], means[draws-1-int(tail*draws)]
	return i
}
