package estimates

import (
	"context"
	"errors"
	"io"

	"go.uber.org/zap"

	"graft/cluster/estimate"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/app"
)

// Times at which models of durations are learned.
const (
	WalkWeek  = "week"  // every week, from the jobs that have already ended
	WalkNone  = "none"  // once, from the history or, without a history, from the first week
	WalkNever = "never" // never; the estimate is the duration of similar jobs
)

// DurationOptions configures [Durations].
type DurationOptions struct {
	Options          // training data and output
	History []string // paths of earlier traces, from which models learn without estimating their jobs
	// when models are trained: every week (WalkWeek), once (WalkNone) or never (WalkNever); empty means WalkWeek
	Walk  string
	Past  bool   // uses the durations of similar completed jobs as features
	Saved string // path for the last model; empty means that no model is written
}

// DurationReport is the JSON output of `graft cluster estimate --json`.
type DurationReport struct {
	Trace   string `json:"trace"`   // path of the trace
	Format  string `json:"format"`  // format of the trace
	Out     string `json:"out"`     // path of the estimates
	Jobs    int    `json:"jobs"`    // number of jobs in the trace, each with an estimate
	Learned int    `json:"learned"` // number of jobs that a model estimated
	// number of jobs estimated from similar jobs, because no model existed yet
	Similar int `json:"similar"`
	// number of jobs with the default estimate of one hour, because no job had ended
	Blind   int `json:"blind"`
	History int `json:"history_jobs"` // number of jobs of other traces from which models learned
	// number of jobs in other traces that were not used for models, because they were submitted after the start of this
	// trace
	Later int `json:"history_left_out"`
	// accuracy of the models' estimates, with errors in seconds; null if no job was estimated by a model
	Scores *Scores `json:"scores"`
	// accuracy of a baseline that estimates from similar jobs, for the jobs that a model estimated
	Usual   *Scores  `json:"scores_of_similar"`
	Windows []Window `json:"windows"` // windows in order of time
	Target  string   `json:"target"`  // learned target: plain, log or median
	// terms of the last model, most important first; empty if there is no model
	Terms  []Term   `json:"terms"`
	Model  string   `json:"model,omitempty"`  // path of the last model
	Shapes []string `json:"shapes,omitempty"` // paths of the files with shapes
}

// Window is the period in which one model is used, until the next model is trained.
type Window struct {
	From    string  `json:"from"`         // date at which the model was learned
	Learned int     `json:"learned_from"` // number of jobs that had ended by this date
	Jobs    int     `json:"jobs"`         // number of jobs submitted until the next model
	Scores  *Scores `json:"scores"`       // accuracy for these jobs; null without a model
}

// Durations fits models to the durations of a trace's jobs, and estimates the duration of each job from data known at
// its submission. If a model or shapes are requested and there is no model, it returns the report with an error whose
// code is failure.Partial.
func Durations(ctx context.Context, env *app.Env, o DurationOptions) (*DurationReport, error) {
	job, err := o.prepare(env)
	if err != nil {
		return nil, err
	}
	job.o.Tell = func(w estimate.DurationWindow) {
		env.Log.Info("estimated job durations", zap.String("from", job.date(w.From)), zap.Int("learned_from",
			len(w.Train)),
			zap.Int("jobs", w.Scores.Rows))
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
		err = failure.With(failure.Partial, errors.New("the estimates were written, but no model or shape "+
			"functions, because too few jobs had ended at the start of each week to train a model; add earlier "+
			"traces with option \"history\""))
	}
	return report, err
}

// write writes the learned models, each file atomically.
func (o *DurationOptions) write(ctx context.Context, env *app.Env, d *estimate.Durations,
	report *DurationReport) error {
	if o.Out != "" {
		err := files.WriteAtomic(env.Files, o.Out,
			func(w io.Writer) error { return estimate.WriteEstimates(w, d.Estimates) })
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
	r := &DurationReport{Trace: o.Trace, Format: job.format, Out: o.Out, Jobs: len(d.Estimates), History: job.history,
		Later: job.later, Scores: newScores(d.Scores), Usual: newScores(d.Usual), Windows: []Window{},
		Target: o.target(), Terms: Terms(d.Model)}
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
