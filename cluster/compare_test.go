package cluster

import (
	"math"

	"graft/cluster/trace"
)

// Compare is the mean difference of completion times, job by job; [Missing] is none.
func Compare(jobs []trace.Job, a, b []int64) Difference {
	values := make([]float64, len(jobs))
	for k := range values {
		if values[k] = float64(a[k] - b[k]); a[k] == Missing || b[k] == Missing {
			values[k] = math.NaN()
		}
	}
	return OverDays(jobs, values)
}

// MeanCompletion is the mean completion time.
func MeanCompletion(jobs []trace.Job, completions []int64) Interval {
	values := make([]float64, len(jobs))
	for k, t := range completions {
		if values[k] = float64(t); t == Missing {
			values[k] = math.NaN()
		}
	}
	return OverDays(jobs, values)
}
