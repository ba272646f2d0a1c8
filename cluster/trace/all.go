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
	// number of rows without a time, which were not read as jobs
	Skipped int
}

// ReadAll reads the jobs of a file into memory, about 170 bytes per job. In a trace with dates, the first selected job
// in order of submission determines time 0, even if this job is outside the range of Options.Window.
func ReadAll(fsys files.FS, path string, o Options) (*Trace, error) {
	r, err := open(fsys, path, o)
	if err != nil {
		return nil, err
	}
	t, err := all(r)
	return t, errors.Join(err, r.Close())
}

func all(r *Reader) (*Trace, error) {
	var jobs []Job
	for {
		n := len(jobs)
		if n == cap(jobs) {
			jobs = slices.Grow(jobs, r.remaining(n))
		}
		jobs = jobs[:n+1] // the job is read into its place
		err := r.next(&jobs[n])
		if errors.Is(err, io.EOF) {
			jobs = jobs[:n]
			break
		}
		if err != nil {
			return nil, err
		}
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
	return &Trace{Jobs: kept, Format: r.Format(), Start: start, Skipped: r.Skipped()}, nil
}

// remaining estimates the number of jobs that follow, from the bytes that the jobs so far take. Otherwise a slice of a
// million jobs would be copied several times as it grows.
func (r *Reader) remaining(jobs int) int {
	const (
		fewest = 1 << 16 // jobs before an estimate
		spare  = 0.03    // of the estimate, because later rows can be shorter
	)
	if jobs < fewest || r.passed == nil || r.size == 0 {
		return max(jobs/4, 1<<10)
	}
	perByte := float64(jobs) / float64(r.passed.bytes)
	bytes := r.size - r.passed.bytes + readBuffer // the buffer holds rows that are not converted yet
	return max(int(perByte*float64(bytes)*(1+spare)), 1<<10)
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
