package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"graft/cluster/estimate"
	"graft/cluster/trace"
	"graft/files"
	"graft/results/document"
	"graft/results/failure"
	"graft/results/runs"
	"graft/work"
)

// clusterEstimateOptions are the flags of `graft cluster estimate`.
type clusterEstimateOptions struct {
	learnedFlags          // what is learned from, and how
	history      []string // traces of what was before
	walk         string   // when models are learned
	past         bool     // whether jobs that ended are features
	saved        string   // file of the last model; empty is none
}

func newClusterEstimateCommand() *cobra.Command {
	var o clusterEstimateOptions
	command := &cobra.Command{
		Use:   "estimate",
		Short: "Learn how long jobs run, and estimate each before it does",
		Long: `estimate walks through a trace. Every week it learns a model from the jobs that have ended
by then, and estimates the jobs of the week from what is known when they are submitted:
user, virtual cluster, name, model, data, devices, what a profile showed, and the date.
No estimate knows anything that happened later.

Jobs of the first week have no model before them, unless --history names traces of what was
before. They are expected to run for the mean of the jobs that had ended: of those of the
same user, name and devices; where there are none, of the same user; then of all; and for
an hour where none had ended. So are those of a week before which fewer than ` + fmt.Sprint(2*defaultLeastRows()) + ` jobs had
ended. How many these are is printed.

--walk none learns once, from the history, or from the first week where there is none;
--walk never does not learn at all, so that all jobs are expected to run as long as similar ones did.

'graft cluster run --estimates FILE' reads the file that is written. In a folder for its
--data it is found by a name such as jobs_ebm.csv, with _ebm in it, which lucid reads, or
one that ends in _lgb.csv, which qssf reads.`,
		Example: `  graft cluster estimate --trace september.csv --out venus_ebm.csv
  graft cluster estimate --trace september.csv --history august.csv --out estimates.csv --model model.json
  graft cluster estimate --trace seconds.csv --start 2020-04-01 --past --out estimates.csv --shapes shapes`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runClusterEstimate(command.Context(), command.OutOrStdout(), o)
		},
	}
	o.add(command)
	flags := command.Flags()
	flags.StringArrayVar(&o.history, "history", nil, "a trace of what was before, whose jobs are learned from and not estimated; may be given several times")
	flags.StringVar(&o.walk, "walk", "week", "when models are learned: each week; none, which is once; or never")
	flags.BoolVar(&o.past, "past", false, "let the durations of similar jobs that have ended be features as well")
	flags.StringVar(&o.saved, "model", "", "write the last model to this file, for graft cluster shapes")
	_ = command.MarkFlagRequired("trace")
	_ = command.RegisterFlagCompletionFunc("model", words(func() []string { return nil })) // flags of this name are networks elsewhere
	_ = command.RegisterFlagCompletionFunc("walk", words(func() []string { return []string{"week", "none", "never"} }))
	return command
}

func defaultLeastRows() int {
	var o estimate.Options
	o.EnsureDefaults()
	return o.LeastRows
}

func runClusterEstimate(ctx context.Context, w io.Writer, o clusterEstimateOptions) error {
	job, err := o.prepare()
	if err != nil {
		return err
	}
	log := loggerFrom(ctx)
	job.o.Tell = func(w estimate.DurationWindow) {
		log.Info("estimated", zap.String("from", job.date(w.From)), zap.Int("learned_from", len(w.Train)), zap.Int("jobs", w.Scores.Rows))
	}
	d, err := estimate.EstimateDurations(ctx, job.jobs, job.o)
	if err != nil {
		return err
	}
	report := o.report(job, d)
	if err := o.write(ctx, d, report); err != nil {
		return err
	}
	if o.json {
		err = document.PrintJSON(w, report)
	} else {
		err = report.print(w)
	}
	return errors.Join(err, o.unlearned(d))
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

// oneWalk is longer than any trace: a walk that learns once.
const oneWalk = 1 << 33

// prepare reads all there is to learn from, before anything is written.
func (o *clusterEstimateOptions) prepare() (*durationJob, error) {
	model, err := o.model()
	if err != nil {
		return nil, err
	}
	window, err := windowOf(o.window)
	if err != nil {
		return nil, err
	}
	if err := o.mayWrite(o.out, o.saved); err != nil {
		return nil, err
	}
	job := &durationJob{o: estimate.DurationOptions{Past: o.past, Model: model, Every: secondsOfWeek}}
	if err := o.read(job, window); err != nil {
		return nil, err
	}
	return job, o.walks(job)
}

// walks says when models are learned.
func (o *clusterEstimateOptions) walks(job *durationJob) error {
	switch o.walk {
	case "week":
	case "none":
		if job.o.First == 0 {
			job.o.First = job.jobs[0].Submit + secondsOfWeek
		}
		job.o.Every = oneWalk
	case "never":
		job.o.First = job.jobs[len(job.jobs)-1].Submit + 1
	default:
		return failure.Usagef("--walk %s: give week, none or never", o.walk)
	}
	return nil
}

const secondsOfWeek = 7 * runs.SecondsOfDay

// read brings the trace and its history onto one line of time, whose second zero is the
// midnight before the first job.
func (o *clusterEstimateOptions) read(job *durationJob, window *trace.Window) error {
	read, err := o.readDated(o.trace, window)
	if err != nil {
		return err
	}
	given, first := read.given, read.Jobs[0].Submit
	for _, path := range o.history {
		before, err := o.readDated(path, nil)
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
	if o.start != "" && !given {
		return failure.Usagef("--start %s: the dates of %s are in it; leave the flag out", o.start, o.trace)
	}
	job.history, job.format = len(job.jobs), read.Format
	job.jobs = append(job.jobs, read.Jobs...)
	job.begin(read.Start, first)
	return nil
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
func (o *clusterEstimateOptions) write(ctx context.Context, d *estimate.Durations, report *estimatesReport) error {
	d.Estimates = d.Estimates[report.History:]
	err := files.WriteAtomic(files.OS{}, o.out, func(w io.Writer) error { return estimate.WriteEstimates(w, d.Estimates) })
	if err != nil || d.Model == nil {
		return err
	}
	if o.saved != "" {
		if err := d.Model.Save(files.OS{}, o.saved); err != nil {
			return err
		}
		report.Model = o.saved
	}
	if o.shapes != "" {
		report.Shapes, err = drawShapes(ctx, o.shapes, "", d.Model, "s")
	}
	return err
}

// unlearned is an error where what was asked for needs a model, and there is none.
func (o *clusterEstimateOptions) unlearned(d *estimate.Durations) error {
	if d.Model != nil || o.saved == "" && o.shapes == "" {
		return nil
	}
	return failure.With(failure.Partial, errors.New("the estimates are written, but there is no model and no shapes: no week has enough jobs that ended before it; give more with --history"))
}
