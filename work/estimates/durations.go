package estimates

import (
	"context"
	"errors"
	"io"
	"time"

	"go.uber.org/zap"

	"graft/cluster/estimate"
	"graft/cluster/trace"
	"graft/files"
	"graft/results/failure"
	"graft/results/runs"
	"graft/work"
)

// When models of durations are learned.
const (
	WalkWeek  = "week"  // every week, from the jobs that ended before
	WalkNone  = "none"  // once, from the history, or from the first week where there is none
	WalkNever = "never" // not at all: jobs are expected to run as long as similar ones
)

// DurationOptions say how durations of jobs are estimated.
type DurationOptions struct {
	Options          // what is learned from and what is written
	History []string // traces from before, which are learned from and not estimated
	Walk    string   // WalkWeek, WalkNone or WalkNever; empty is WalkWeek
	Past    bool     // use durations of similar jobs that have ended as features
	Saved   string   // file for the last model; empty writes none
}

// DurationReport is what `graft cluster estimate --json` prints.
type DurationReport struct {
	Trace   string   `json:"trace"`             // file of the jobs
	Format  string   `json:"format"`            // of the trace
	Out     string   `json:"out"`               // file of the estimates
	Jobs    int      `json:"jobs"`              // of the trace; each has an estimate
	Learned int      `json:"learned"`           // of them that a model estimated
	Similar int      `json:"similar"`           // that are expected to run as long as similar jobs did, as no model was there yet
	Blind   int      `json:"blind"`             // that are expected to run for an hour, as no job had ended
	History int      `json:"history_jobs"`      // of other traces, that were learned from
	Later   int      `json:"history_left_out"`  // of other traces, that came with the trace or after it
	Scores  *Scores  `json:"scores"`            // of the jobs that a model estimated, in seconds; null where there are none
	Usual   *Scores  `json:"scores_of_similar"` // of the same jobs, had they been expected to run as long as similar ones
	Windows []Window `json:"windows"`           // in order of time
	Target  string   `json:"target"`            // what was learned: plain, log or median
	Terms   []Term   `json:"terms"`             // of the last model, the most important first; empty where there is none
	Model   string   `json:"model,omitempty"`   // file of the last model
	Shapes  []string `json:"shapes,omitempty"`  // files of shape functions
}

// Window is the time between two models.
type Window struct {
	From    string  `json:"from"`         // date at which the model was learned
	Learned int     `json:"learned_from"` // jobs that had ended by then
	Jobs    int     `json:"jobs"`         // that were submitted until the next model
	Scores  *Scores `json:"scores"`       // of these jobs; null where there was no model
}

// Durations learns how long jobs of a trace run and estimates each from what was known when it
// was submitted. The report comes with an error of the code failure.Partial where a model or
// shapes were asked for and there is no model.
func Durations(ctx context.Context, env *work.Env, o DurationOptions) (*DurationReport, error) {
	job, err := o.prepare(env)
	if err != nil {
		return nil, err
	}
	job.o.Tell = func(w estimate.DurationWindow) {
		env.Log.Info("estimated", zap.String("from", job.date(w.From)), zap.Int("learned_from", len(w.Train)), zap.Int("jobs", w.Scores.Rows))
	}
	d, err := estimate.EstimateDurations(ctx, job.jobs, job.o)
	if err != nil {
		return nil, err
	}
	d.Estimates = d.Estimates[job.history:]
	report := o.report(job, d)
	if err := o.write(ctx, env, d, report); err != nil {
		return nil, err
	}
	if d.Model == nil && o.Saved+o.Shapes != "" {
		err = failure.With(failure.Partial, errors.New("the estimates are written, but there is no model and no shapes: no week has enough jobs that ended before it; give more with --history"))
	}
	return report, err
}

// durationJob is what is estimated, and how.
type durationJob struct {
	jobs    []trace.Job // first those of the history
	history int         // how many these are
	later   int         // jobs of the history that came with the trace, or after it
	format  string      // of the trace
	o       estimate.DurationOptions
}

// date is that of a second.
func (j *durationJob) date(second int64) string {
	return j.o.Zero.Add(time.Duration(second) * time.Second).Format(time.DateTime)
}

// prepare reads all there is to learn from, before anything is written.
func (o *DurationOptions) prepare(env *work.Env) (*durationJob, error) {
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

// walks sets when models are learned.
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
		return failure.Usagef("--walk %s: give week, none or never", o.Walk)
	}
	return nil
}

// read brings the trace and its history onto one line of time, whose second zero is the
// midnight before the first job.
func (o *DurationOptions) read(env *work.Env, job *durationJob) error {
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

// begin puts second zero at the midnight before the first job.
func (j *durationJob) begin(zero time.Time, first int64) {
	earliest := first
	for k := range j.jobs {
		earliest = min(earliest, j.jobs[k].Submit)
	}
	by := work.Midnight(earliest)
	for k := range j.jobs {
		j.jobs[k].Submit -= by
	}
	j.o.Zero = zero.Add(time.Duration(by) * time.Second)
	if j.history > 0 {
		j.o.First = first - by // above zero, as the history is before it
	}
}

// write writes what was learned; each file is there whole or not at all.
func (o *DurationOptions) write(ctx context.Context, env *work.Env, d *estimate.Durations, report *DurationReport) error {
	if o.Out != "" {
		err := files.WriteAtomic(env.Files, o.Out, func(w io.Writer) error { return estimate.WriteEstimates(w, d.Estimates) })
		if err != nil {
			return err
		}
	}
	if d.Model == nil {
		return nil
	}
	if o.Saved != "" {
		if err := d.Model.Save(env.Files, o.Saved); err != nil {
			return err
		}
		report.Model = o.Saved
	}
	if o.Shapes == "" {
		return nil
	}
	var err error
	report.Shapes, err = Draw(ctx, env, d.Model, DrawOptions{Folder: o.Shapes, Unit: "s"})
	return err
}

// report summarizes estimates of the trace's jobs.
func (o *DurationOptions) report(job *durationJob, d *estimate.Durations) *DurationReport {
	r := &DurationReport{Trace: o.Trace, Format: job.format, Out: o.Out, Jobs: len(d.Estimates), History: job.history, Later: job.later,
		Scores: newScores(d.Scores), Usual: newScores(d.Usual), Windows: []Window{}, Target: o.target(), Terms: Terms(d.Model)}
	for _, e := range d.Estimates {
		switch {
		case e.Learned:
			r.Learned++
		case e.Blind:
			r.Blind++
		default:
			r.Similar++
		}
	}
	for _, w := range d.Windows {
		r.Windows = append(r.Windows, Window{job.date(w.From), len(w.Train), len(w.Test), newScores(w.Scores)})
	}
	return r
}
