package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"graft/cluster/estimate"
	"graft/files"
	"graft/results/document"
	"graft/results/failure"
)

// clusterForecastOptions are the flags of `graft cluster forecast`.
type clusterForecastOptions struct {
	learnedFlags        // what is learned from, and how
	ticks        string // file of submissions by time, in place of a trace
	from         string // date before which is learned; empty is to walk
	models       string // folder; empty is none
}

func newClusterForecastCommand() *cobra.Command {
	var o clusterForecastOptions
	command := &cobra.Command{
		Use:   "forecast",
		Short: "Learn how many jobs and GPUs are submitted, and forecast them",
		Long: `forecast learns how many jobs that want GPUs are submitted in each ten minutes, and how many
GPUs they want: from the calendar, and from what was submitted an hour and more before. The
submissions are those of a trace, or of a table with the columns time, submit_gpu_job and
submit_gpu_num.

Without --from it walks: every week models are learned from all that was before, and forecast
the week. The first week is expected to be as the last hour that was known. With --from models
are learned once, from what was before that date, and what comes from it on is forecast. No
forecast knows what was submitted within the hour before it.

In a folder for --data of 'graft cluster run' the file that is written is found by a name that
ends in throughput_pred.csv, and lucid reads it. Its times are dates; where a trace has none,
the first line stands for the beginning of the simulation.`,
		Example: `  graft cluster forecast --trace september.csv --out venus/september_throughput_pred.csv
  graft cluster forecast --ticks cluster_throughput.csv --from 2020-09-01 --out forecast.csv --models models`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runClusterForecast(command.Context(), command.OutOrStdout(), o)
		},
	}
	o.add(command)
	flags := command.Flags()
	flags.StringVar(&o.ticks, "ticks", "", "table of submissions by ten minutes, in place of a trace")
	flags.StringVar(&o.from, "from", "", "learn from what was before this date, and forecast from it on; empty is to walk week by week")
	flags.StringVar(&o.models, "models", "", "write the last models to jobs.json and gpus.json in this folder, for graft cluster shapes")
	command.MarkFlagsOneRequired("trace", "ticks")
	command.MarkFlagsMutuallyExclusive("trace", "ticks")
	_ = command.RegisterFlagCompletionFunc("from", cobra.NoFileCompletions) // flags of this name are formats elsewhere
	return command
}

func runClusterForecast(ctx context.Context, w io.Writer, o clusterForecastOptions) error {
	model, err := o.model()
	if err != nil {
		return err
	}
	if err := o.mayWriteAll(); err != nil {
		return err
	}
	ticks, err := o.readTicks()
	if err != nil {
		return err
	}
	t, err := o.learn(ctx, ticks, estimate.ThroughputOptions{Model: model})
	if err != nil {
		return err
	}
	report := o.report(ticks, t)
	if err := o.write(ctx, t, report); err != nil {
		return err
	}
	if o.json {
		err = document.PrintJSON(w, report)
	} else {
		err = report.print(w)
	}
	if t.Models == 0 && (o.models != "" || o.shapes != "") {
		err = errors.Join(err, failure.With(failure.Partial, errors.New("the forecast is written, but there are no models: the submissions are of less than a week, or all alike; give more of them")))
	}
	return err
}

// modelFiles are the files of models.
func (o *clusterForecastOptions) modelFiles() []string {
	if o.models == "" {
		return nil
	}
	return []string{filepath.Join(o.models, "jobs.json"), filepath.Join(o.models, "gpus.json")}
}

// mayWriteAll looks, before anything is learned, whether files can be written afterwards.
func (o *clusterForecastOptions) mayWriteAll() error {
	if o.models != "" {
		if err := os.MkdirAll(o.models, 0o755); err != nil {
			return fmt.Errorf("write models: %w", err)
		}
	}
	return o.mayWrite(append([]string{o.out}, o.modelFiles()...)...)
}

// readTicks reads or counts submissions.
func (o *clusterForecastOptions) readTicks() ([]estimate.Tick, error) {
	if o.ticks != "" {
		if o.window+o.start+o.format != "" {
			return nil, failure.Usagef("--window, --start and --format are of a trace; leave them out with --ticks")
		}
		f, err := os.Open(o.ticks)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		ticks, err := estimate.ReadTicks(f)
		if err == nil && len(ticks) == 0 {
			err = errors.New("there is no row")
		}
		if err != nil {
			return nil, failure.AsDamage(fmt.Errorf("%s: %w", o.ticks, err))
		}
		return ticks, nil
	}
	window, err := windowOf(o.window)
	if err != nil {
		return nil, err
	}
	read, err := o.readDated(o.trace, window)
	if err != nil {
		return nil, err
	}
	if o.start != "" && !read.given {
		return nil, failure.Usagef("--start %s: the dates of %s are in it; leave the flag out", o.start, o.trace)
	}
	return estimate.TicksOf(read.Jobs, read.Start, 0)
}

func (o *clusterForecastOptions) learn(ctx context.Context, ticks []estimate.Tick, how estimate.ThroughputOptions) (*estimate.Throughput, error) {
	if o.from == "" {
		return estimate.WalkThroughput(ctx, ticks, how)
	}
	from, err := dateOf("from", o.from)
	if err != nil {
		return nil, err
	}
	return estimate.ForecastThroughput(ctx, ticks, from, how)
}

// write writes what was learned; each file is there whole or not at all.
func (o *clusterForecastOptions) write(ctx context.Context, t *estimate.Throughput, report *forecastReport) error {
	err := files.WriteAtomic(files.OS{}, o.out, func(w io.Writer) error { return estimate.WriteForecasts(w, t.Forecasts) })
	if err != nil || t.Models == 0 {
		return err
	}
	for k, m := range []*estimate.Model{t.Jobs, t.GPUs} {
		if o.models != "" {
			path := o.modelFiles()[k]
			if err := m.Save(files.OS{}, path); err != nil {
				return err
			}
			report.Models = append(report.Models, path)
		}
		if o.shapes != "" {
			drawn, err := drawShapes(ctx, o.shapes, []string{"jobs-", "gpus-"}[k], m, []string{"jobs", "GPUs"}[k])
			if err != nil {
				return err
			}
			report.Shapes = append(report.Shapes, drawn...)
		}
	}
	return nil
}

// forecastReport is what `graft cluster forecast --json` prints.
type forecastReport struct {
	Source  string         `json:"source"`           // file of the trace or of the submissions
	Out     string         `json:"out"`              // file of the forecasts
	Steps   int            `json:"steps"`            // of ten minutes that were read
	From    string         `json:"from"`             // date of the first step that is forecast
	To      string         `json:"to"`               // date of the last one
	Rows    int            `json:"forecasts"`        // steps that are forecast
	Learned int            `json:"learned"`          // of them that models forecast; others are expected to be as the last known hour
	Times   int            `json:"times_learned"`    // how often models were learned
	Target  string         `json:"target"`           // what was learned: plain, log or median
	Jobs    forecastSeries `json:"jobs"`             // that are submitted
	GPUs    forecastSeries `json:"gpus"`             // that they ask for
	Models  []string       `json:"models,omitempty"` // files of the last models
	Shapes  []string       `json:"shapes,omitempty"` // files of shape functions
}

// forecastSeries is how good forecasts of a series are, and what they are made of.
type forecastSeries struct {
	Scores *learnedScores `json:"scores"` // of the steps that models forecast; null where there are none
	Terms  []learnedTerm  `json:"terms"`  // of the last model, the most important first
}

func (o *clusterForecastOptions) report(ticks []estimate.Tick, t *estimate.Throughput) *forecastReport {
	const layout = "2006-01-02 15:04:05"
	r := &forecastReport{Source: o.trace + o.ticks, Out: o.out, Steps: len(ticks), Rows: len(t.Forecasts), Times: t.Models, Target: o.target,
		From: t.Forecasts[0].Time.Format(layout), To: t.Forecasts[len(t.Forecasts)-1].Time.Format(layout),
		Jobs: forecastSeries{learnedScoresOf(t.JobScores), learnedTermsOf(t.Jobs)}, GPUs: forecastSeries{learnedScoresOf(t.GPUScores), learnedTermsOf(t.GPUs)}}
	for _, f := range t.Forecasts {
		if f.Learned {
			r.Learned++
		}
	}
	return r
}

// print writes the report for people.
func (r *forecastReport) print(w io.Writer) error {
	d := &document.Document{}
	d.Say(fmt.Sprintf("%s: %s of ten minutes", r.Source, document.Plural(r.Steps, "step")),
		fmt.Sprintf("forecast from %s to %s: %d by models that were learned %s, %d as the last known hour", r.From, r.To, r.Learned, document.Plural(r.Times, "time"), r.Rows-r.Learned))
	if r.Jobs.Scores != nil {
		d.Say("jobs: "+r.Jobs.Scores.text("jobs"), "GPUs: "+r.GPUs.Scores.text("GPUs"), "intervals of 95% draw whole days")
		d.Head("jobs that are submitted")
		d.Show(termTable(r.Jobs.Terms, unitOf("jobs", r.Target)))
		d.Head("GPUs that they ask for")
		d.Show(termTable(r.GPUs.Terms, unitOf("GPUs", r.Target)))
	}
	d.Say("wrote " + r.Out)
	for _, path := range r.Models {
		d.Say("wrote " + path)
	}
	if len(r.Shapes) > 0 {
		d.Say(fmt.Sprintf("wrote %s of shapes", document.Plural(len(r.Shapes), "file")))
	}
	return d.Print(w)
}
