package trace

import (
	"cmp"
	"slices"
)

// Usage describes the GPUs in use on the traced cluster, from the first start to the last end of a job.
type Usage struct {
	MeanGPUs float64 `json:"mean_gpus"` // mean number of GPUs in use
	MostGPUs int     `json:"most_gpus"` // maximum number of GPUs in use at once
}

// change is a start or an end of a job.
type change struct {
	at   int64
	gpus int // negative for an end
}

// startsReader is implemented by formats with a row for each start of a job.
type startsReader interface {
	// starts returns the starts and ends of the last job, and the number of its restarts without a row.
	starts() (used []change, unlisted int)
}

// addStarts adds the starts of the last job that was read.
func (t *tally) addStarts(job *Job, r *Reader) {
	if rows, has := r.rows.(startsReader); has {
		used, unlisted := rows.starts()
		t.changes = append(t.changes, used...)
		t.sum.Waste.Unlisted += unlisted
	} else {
		t.addChanges(job)
	}
}

// addChanges adds the start and the end of a job. A job with restarts counts as one interval, because the trace does
// not have the times between its starts.
func (t *tally) addChanges(job *Job) {
	h := job.History
	if h == nil || !h.Started || job.GPUs == 0 || job.Duration <= 0 || job.Share > 0 || job.Runaway() {
		return
	}
	start := job.Submit + h.Wait
	t.changes = append(t.changes, change{start, job.GPUs}, change{start + job.Duration, -job.GPUs})
}

// usageOf sorts changes. At one second, ends come before starts.
func usageOf(changes []change) *Usage {
	if len(changes) == 0 {
		return nil
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.gpus, b.gpus))
	})
	u, used, area := &Usage{}, 0, 0.0
	for k, c := range changes {
		if k > 0 {
			area += float64(used) * float64(c.at-changes[k-1].at)
		}
		used += c.gpus
		u.MostGPUs = max(u.MostGPUs, used)
	}
	u.MeanGPUs = area / float64(changes[len(changes)-1].at-changes[0].at)
	return u
}
