package trace

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"time"

	"graft/internal/files"
)

// Trace is all jobs of a file that were kept.
type Trace struct {
	Jobs   []Job     // in the order of their submission, those of one second as in the file
	Format string    // the name of the file's format
	Start  time.Time // the date of second zero, in UTC for want of a time zone; the zero time where it is not known
}

// ReadAll reads the jobs of a file into memory, 200 bytes each. Of a trace with dates
// second zero is told by the first job in the order of submission, of those that are kept
// whatever their window.
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

// HasRAM reports whether a job asks for memory of nodes.
func (t *Trace) HasRAM() bool {
	return slices.ContainsFunc(t.Jobs, func(j Job) bool { return j.RAM > 0 })
}

// sorted brings jobs into the order of their submission. Jobs are large, so their numbers
// are sorted in their place.
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
