package trace

import "slices"

// Early summarises the first jobs of a trace if they were submitted long before all others. sacct lists jobs that ran
// in its period, also if they were submitted before it.
type Early struct {
	Jobs int     `json:"jobs"` // number of jobs
	Days float64 `json:"days"` // days between the last of them and the next job
	Next int64   `json:"next"` // submission of the next job, in seconds since second zero
}

const (
	// mostEarly is the maximum number of early jobs. A longer list would be a part of the trace.
	mostEarly = 20
	// leastEarly is the least share of the trace's time between the early jobs and the others.
	leastEarly = 0.1
	// fewestJobs is the least number of other jobs for each early job.
	fewestJobs = 50
)

// earliest keeps the first submissions of a trace in any order of its rows.
type earliest []int64

func (e *earliest) add(submit int64) {
	if len(*e) > mostEarly && submit >= (*e)[mostEarly] {
		return
	}
	at, _ := slices.BinarySearch(*e, submit)
	if *e = slices.Insert(*e, at, submit); len(*e) > mostEarly+1 {
		*e = (*e)[:mostEarly+1]
	}
}

// summary returns the early jobs of a trace with a number of jobs, whose last submission is given; nil without any.
func (e earliest) summary(jobs int, last int64) *Early {
	for k := len(e) - 1; k > 0; k-- {
		gap := e[k] - e[k-1]
		if float64(gap) >= leastEarly*float64(last-e[0]) && gap >= secondsOfDay && jobs-k >= fewestJobs*k {
			return &Early{k, float64(gap) / secondsOfDay, e[k]}
		}
	}
	return nil
}
