package trace

import (
	"fmt"
	"strings"

	"graft/internal/words"
)

// Omitted counts the jobs of a trace that simulations leave out, by reason.
type Omitted struct {
	Untimed    int // rows without a time, which are not read as jobs
	CPU        int // jobs without GPUs
	Never      int // jobs that never started
	Runaway    int // jobs whose end is unknown
	NoDuration int // jobs without a duration that may have started; zero if simulations keep them
}

// Leaves reports whether simulations leave a job out, and counts the job if they do. With timed, they also leave out
// jobs that may have started and have no duration.
func (o *Omitted) Leaves(job *Job, timed bool) bool {
	switch {
	case job.NeverStarted():
		o.Never++
	case job.Runaway():
		o.Runaway++
	case job.GPUs == 0:
		o.CPU++
	case timed && job.Duration == 0:
		o.NoDuration++
	default:
		return false
	}
	return true
}

// Join adds the jobs of another trace.
func (o *Omitted) Join(other Omitted) {
	o.Untimed += other.Untimed
	o.CPU += other.CPU
	o.Never += other.Never
	o.Runaway += other.Runaway
	o.NoDuration += other.NoDuration
}

// Sentence describes the jobs for a report; empty if there are none.
func (o *Omitted) Sentence() string {
	var list []string
	for _, group := range []struct {
		jobs      int
		what, why string
	}{{o.CPU, "job", "without GPUs"}, {o.Never, "job", "that never started"},
		{o.NoDuration, "job", "without a duration"},
		{o.Runaway, "job", "without an end, although the time limit passed more than an hour ago"},
		{o.Untimed, "row", "without a time"}} {
		if group.jobs > 0 {
			list = append(list, words.Plural(group.jobs, group.what)+" "+group.why)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "Left out of the trace: " + strings.Join(list, ", ") + "."
}

// PartsOf counts the jobs that request parts of GPUs.
func PartsOf(jobs []Job) (n int) {
	for k := range jobs {
		if jobs[k].Share > 0 {
			n++
		}
	}
	return n
}

// PartsSentence states that jobs with parts of GPUs count as jobs of whole GPUs.
func PartsSentence(jobs int) string {
	return fmt.Sprintf("Jobs that request a part of a GPU: %d. They count as jobs of whole GPUs.", jobs)
}
