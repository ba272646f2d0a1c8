package cluster

import "graft/cluster/trace"

// Compare returns the mean difference of completion times, job by job. NaN marks a missing time.
func Compare(jobs []trace.Job, a, b []float64) Difference {
	values := make([]float64, len(jobs))
	for k := range values {
		values[k] = a[k] - b[k]
	}
	return OverDays(jobs, values)
}
