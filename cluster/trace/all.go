package trace

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"time"

	"graft/internal/files"
)

// Trace holds the selected jobs of a file.
type Trace struct {
	Jobs   []Job     // jobs in order of submission; jobs of the same second in file order
	Format string    // name of the file's format
	Start  time.Time // date of second zero, taken as UTC; the zero time if unknown
}

// ReadAll reads the jobs of a file into memory, about 200 bytes per job. In a trace with dates, the first selected job
// in order of submission determines time 0, even if this job is outside the range of Options.Window.
func ReadAll(fsys files.FS, path string, o Options) (*Trace, error) {
	r, err := Open(fsys, path, o)
	if err != nil {
		return nil, err
	}
	t, err := all(r)
	return t, errors.Join(err, r.Close())
}

func all(r *Reader) (*Trace, error) {
	var jobs []Job
	for {
		var job Job
		err := r.next(&job)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job)
	}
	jobs = sorted(jobs)
	if len(jobs) > 0 && r.rows.clock().dates {
		r.zero = r.o.Origin.of(jobs[0].Submit)
	}
	kept := jobs[:0]
	for k := range jobs {
		jobs[k].Submit -= r.zero
		if r.o.Window.holds(jobs[k].Submit) {
			kept = append(kept, jobs[k])
		}
	}
	start, _ := r.Start()
	return &Trace{Jobs: kept, Format: r.Format(), Start: start}, nil
}

// HasLimits reports whether any job has a time limit.
func (t *Trace) HasLimits() bool {
	return slices.ContainsFunc(t.Jobs, func(j Job) bool { return j.Limit > 0 })
}

// sorted sorts jobs by submission. Jobs are large, so it sorts their indexes first.
func sorted(jobs []Job) []Job {
	bySubmit := func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) }
	if slices.IsSortedFunc(jobs, bySubmit) {
		return jobs
	}
	order := make([]int, len(jobs))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(jobs[a].Submit, jobs[b].Submit), cmp.Compare(a, b))
	})
	ordered := make([]Job, len(jobs))
	for k, from := range order {
		ordered[k] = jobs[from]
	}
	return ordered
}
