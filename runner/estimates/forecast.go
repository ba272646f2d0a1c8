package estimates

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"graft/cluster/estimate"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/app"
)

// ForecastOptions configures [Forecast].
type ForecastOptions struct {
	Options // training data, which is a trace unless Ticks names a table, and output
	// path of a table of submissions per ten minutes; if empty, the submissions of the trace are counted
	Ticks string
	// date at which the training data of a single model ends; this model forecasts all later data. The zero time means
	// that a new model is trained every week.
	From time.Time
	// path of the folder into which the last models are written, as jobs.json and gpus.json; empty means that no models
	// are written
	Models string
}

// ForecastReport is the JSON output of `graft cluster forecast --json`.
type ForecastReport struct {
	Source string `json:"source"`    // path of the trace or of the table of submissions
	Out    string `json:"out"`       // path of the forecasts
	Steps  int    `json:"steps"`     // number of ten-minute steps read
	From   string `json:"from"`      // date of the first forecast step
	To     string `json:"to"`        // date of the last forecast step
	Rows   int    `json:"forecasts"` // number of forecast steps
	// number of ten-minute steps that a model forecasts; for all other steps, the forecast is the mean of the last
	// known hour
	Learned int      `json:"learned"`
	Times   int      `json:"times_learned"`    // number of times that models were learned
	Target  string   `json:"target"`           // learned target: plain, log or median
	Jobs    Series   `json:"jobs"`             // forecast of the number of submitted jobs
	GPUs    Series   `json:"gpus"`             // forecast of the number of requested GPUs
	Models  []string `json:"models,omitempty"` // paths of the last models
	Shapes  []string `json:"shapes,omitempty"` // paths of the files with shapes
}

// Series holds the accuracy of the forecasts of one quantity, and the terms of its model.
type Series struct {
	Scores *Scores `json:"scores"` // accuracy of the forecasts by models; null if there are none
	Terms  []Term  `json:"terms"`  // terms of the last model, most important first
}

// Forecast fits models to the numbers of jobs and GPUs submitted per ten minutes, and forecasts these numbers. If
// models or shapes are requested and there are no models, it returns the report with an error whose code is
// failure.Partial.
func Forecast(ctx context.Context, env *app.Env, o ForecastOptions) (*ForecastReport, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := o.mayWriteAll(env); err != nil {
		return nil, err
	}
	ticks, err := o.readTicks(env)
	if err != nil {
		return nil, err
	}
	t, err := o.learn(ctx, ticks)
	if err != nil {
		return nil, err
	}
	report := o.report(ticks, t)
	if err := o.write(ctx, env, t, report); err != nil {
		return nil, err
	}
	if t.Models == 0 && o.Models+o.Shapes != "" {
		err = failure.With(failure.Partial, errors.New("the forecast was written, but no model was "+
			"trained: the submissions cover less than a week, or their number never changes; use a longer trace"))
	}
	return report, err
}

// modelFiles returns the files of models; empty if none are written.
func (o *ForecastOptions) modelFiles() []string {
	if o.Models == "" {
		return []string{"", ""}
	}
	return []string{filepath.Join(o.Models, "jobs.json"), filepath.Join(o.Models, "gpus.json")}
}

// mayWriteAll checks, before learning, whether files can be written afterwards.
func (o *ForecastOptions) mayWriteAll(env *app.Env) error {
	if o.Models != "" {
		if err := env.Files.MkdirAll(o.Models); err != nil {
			return fmt.Errorf("write models: %w", err)
		}
	}
	return o.mayWrite(env, append([]string{o.Out}, o.modelFiles()...)...)
}

// readTicks reads submissions, or counts the trace's submissions.
func (o *ForecastOptions) readTicks(env *app.Env) ([]estimate.Tick, error) {
	if o.Ticks != "" {
		return o.readTable(env)
	}
	read, err := o.readDated(env, o.Trace, o.Window)
	if err != nil {
		return nil, err
	}
	if err := o.unneededStart(read.given); err != nil {
		return nil, err
	}
	return estimate.TicksOf(read.Jobs, read.Start, 0)
}

func (o *ForecastOptions) readTable(env *app.Env) ([]estimate.Tick, error) {
	if o.Window != nil || !o.Start.IsZero() || o.Format != "" {
		return nil, failure.Usagef("option \"window\", option \"start\" and option \"format\" apply to a trace; " +
			"omit them with option \"ticks\"")
	}
	f, err := env.Files.Open(o.Ticks)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ticks, err := estimate.ReadTicks(f)
	if err == nil && len(ticks) == 0 {
		err = errors.New("the table has no rows")
	}
	if err != nil {
		return nil, failure.AsDamage(fmt.Errorf("%s: %w", o.Ticks, err))
	}
	return ticks, nil
}

func (o *ForecastOptions) learn(ctx context.Context, ticks []estimate.Tick) (*estimate.Throughput, error) {
	how := estimate.ThroughputOptions{Model: o.Model}
	if o.From.IsZero() {
		return estimate.WalkThroughput(ctx, ticks, how)
	}
	return estimate.ForecastThroughput(ctx, ticks, o.From, how)
}

// write writes the learned models, each file atomically.
func (o *ForecastOptions) write(ctx context.Context, env *app.Env, t *estimate.Throughput,
	report *ForecastReport) error {
	if o.Out != "" {
		err := files.WriteAtomic(env.Files, o.Out,
			func(w io.Writer) error { return estimate.WriteForecasts(w, t.Forecasts) })
		if err != nil {
			return err
		}
	}
	if t.Models == 0 {
		return nil
	}
	for k, m := range []*estimate.Model{t.Jobs, t.GPUs} {
		if path := o.modelFiles()[k]; path != "" {
			if err := m.Save(env.Files, path); err != nil {
				return err
			}
			report.Models = append(report.Models, path)
		}
		if o.Shapes == "" {
			continue
		}
		drawn, err := Draw(ctx, env, m, DrawOptions{Folder: o.Shapes, Prefix: []string{"jobs-", "gpus-"}[k],
			Unit: []string{"jobs", "GPUs"}[k]})
		if err != nil {
			return err
		}
		report.Shapes = append(report.Shapes, drawn...)
	}
	return nil
}

// report summarizes forecasts.
func (o *ForecastOptions) report(ticks []estimate.Tick, t *estimate.Throughput) *ForecastReport {
	r := &ForecastReport{Source: o.Trace + o.Ticks, Out: o.Out, Steps: len(ticks), Rows: len(t.Forecasts),
		Times: t.Models, Target: o.target(), From: t.Forecasts[0].Time.Format(time.DateTime),
		To:   t.Forecasts[len(t.Forecasts)-1].Time.Format(time.DateTime),
		Jobs: Series{newScores(t.JobScores), Terms(t.Jobs)}, GPUs: Series{newScores(t.GPUScores), Terms(t.GPUs)}}
	for _, f := range t.Forecasts {
		if f.Learned {
			r.Learned++
		}
	}
	return r
}
