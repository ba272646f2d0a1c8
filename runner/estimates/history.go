package estimates

import (
	"time"

	"graft/cluster/estimate"
	"graft/cluster/trace"
	"graft/internal/failure"
	"graft/report/runs"
	"graft/runner/app"
)

// durationJob holds the jobs to estimate and the options of the estimate.
type durationJob struct {
	jobs    []trace.Job // jobs, starting with the history
	history int         // number of jobs in the history
	later   int         // jobs of the history submitted during or after the trace
	format  string      // format of the trace
	o       estimate.DurationOptions
}

// date returns the date of a second.
func (j *durationJob) date(second int64) string {
	return j.o.Zero.Add(time.Duration(second) * time.Second).Format(time.DateTime)
}

// prepare reads all training data, before anything is written.
func (o *DurationOptions) prepare(env *app.Env) (*durationJob, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := o.mayWrite(env, o.Out, o.Saved); err != nil {
		return nil, err
	}
	job := &durationJob{o: estimate.DurationOptions{Past: o.Past, Model: o.Model, Every: secondsOfWeek}}
	if err := o.read(env, job); err != nil {
		return nil, err
	}
	return job, o.walks(job)
}

const (
	secondsOfWeek = 7 * runs.SecondsOfDay
	oneWalk       = 1 << 33 // seconds, longer than any trace: a walk that learns once
)

// walks sets the times at which models are learned.
func (o *DurationOptions) walks(job *durationJob) error {
	switch o.Walk {
	case "", WalkWeek:
	case WalkNone:
		if job.o.First == 0 {
			job.o.First = job.jobs[0].Submit + secondsOfWeek
		}
		job.o.Every = oneWalk
	case WalkNever:
		job.o.First = job.jobs[len(job.jobs)-1].Submit + 1
	default:
		return failure.Usagef("option \"walk\" is %q; expected week, none or never", o.Walk)
	}
	return nil
}

// read aligns the trace and its history in time. Second zero is the midnight before the first job.
func (o *DurationOptions) read(env *app.Env, job *durationJob) error {
	read, err := o.readDated(env, o.Trace, o.Window)
	if err != nil {
		return err
	}
	given, first := read.given, read.Jobs[0].Submit
	for _, path := range o.History {
		before, err := o.readDated(env, path, nil)
		if err != nil {
			return err
		}
		given = given || before.given
		by := int64(before.Start.Sub(read.Start) / time.Second)
		for _, j := range before.Jobs {
			if j.Submit += by; j.Submit < first {
				job.jobs = append(job.jobs, j)
			} else {
				job.later++
			}
		}
	}
	job.history, job.format = len(job.jobs), read.Format
	job.jobs = append(job.jobs, read.Jobs...)
	job.begin(read.Start, first)
	return o.unneededStart(given)
}

// begin sets second zero to the midnight before the first job.
func (j *durationJob) begin(zero time.Time, first int64) {
	earliest := first
	for k := range j.jobs {
		earliest = min(earliest, j.jobs[k].Submit)
	}
	by := app.Midnight(earliest)
	for k := range j.jobs {
		j.jobs[k].Submit -= by
	}
	j.o.Zero = zero.Add(time.Duration(by) * time.Second)
	if j.history > 0 {
		j.o.First = first - by // positive, because the history is before it
	}
}
