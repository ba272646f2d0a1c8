package elastic

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"graft/cluster/trace"
	"graft/internal/files"
	"graft/internal/words"
)

// ReadClusterTrace reads the GPU jobs with positive durations from a trace in any format of package trace. Jobs are
// sorted by submission, and jobs with the same submission time stay in the order of the file. It counts the other
// jobs. Duplicate IDs and negative durations of GPU jobs cause errors that name the line.
func ReadClusterTrace(fsys files.FS, path string) (jobs []trace.Job, left trace.Omitted, err error) {
	r, err := trace.Open(fsys, path, trace.Options{})
	if err != nil {
		return nil, left, err
	}
	jobs, left, err = readUsable(r, path)
	left.Untimed = r.Skipped()
	return jobs, left, errors.Join(err, r.Close())
}

func readUsable(r *trace.Reader, path string) (jobs []trace.Job, left trace.Omitted, err error) {
	checker, err := trace.NewChecker(trace.CheckOptions{})
	if err != nil {
		return nil, left, err
	}
	for {
		var job trace.Job
		if err := r.Read(&job); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, left, err
		}
		if job.GPUs > 0 {
			checker.Add(&job, r.Line())
		}
		if !left.Leaves(&job, true) {
			jobs = append(jobs, job)
		}
	}
	for _, f := range checker.Findings() {
		if f.Kind == trace.DuplicateID || f.Kind == trace.NegativeDuration {
			err = errors.Join(err, &trace.Error{Path: path, Line: f.FirstLine,
				Text:   fmt.Sprintf("job %s: %s (jobs with this fault: %d)", f.FirstID, f.Text, f.Count),
				Remedy: "correct the trace or remove these jobs"})
		}
	}
	if err == nil && len(jobs) == 0 {
		err = &trace.Error{Path: path, Text: "no job has both devices and a duration", Remedy: "name another trace"}
	}
	slices.SortStableFunc(jobs, func(a, b trace.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	return jobs, left, err
}

// usable reports whether a job has devices and a duration.
func usable(j *trace.Job) bool { return j.GPUs > 0 && j.Duration > 0 && !j.Runaway() }

// Divide splits jobs, sorted by submission, into workloads of consecutive jobs. The argument size is the number of jobs
// per workload. The first counts[0] workloads (at least one) are part 0, the next counts[1] workloads are part 1, and
// so on. A part begins more than gap seconds after the last job of the previous part, so that a burst of jobs is not
// split between two parts. Jobs in a gap and surplus jobs at the end are omitted.
func Divide(jobs []trace.Job, size int, gap int64, counts ...int) (parts [][][]trace.Job, err error) {
	at := 0
	for _, count := range counts {
		for used := at; used > 0 && at < len(jobs) && jobs[at].Submit <= jobs[used-1].Submit+gap; {
			at++
		}
		var part [][]trace.Job
		for range count {
			if len(jobs)-at < size {
				return nil, fmt.Errorf("divide a trace into parts of %v workloads with %s each: the "+
					"trace has only %s; request fewer workloads, or name a longer trace", counts,
					words.Plural(size, "job"), words.Plural(len(jobs), "job"))
			}
			part, at = append(part, jobs[at:at+size]), at+size
		}
		parts = append(parts, part)
	}
	return parts, nil
}
