// Package estimates learns the durations of jobs and the number of submissions from traces, and shows the effect of
// each feature in the models.
package estimates

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"graft/cluster/estimate"
	"graft/cluster/trace"
	"graft/internal/failure"
	"graft/runner/app"
	"graft/runner/traces"
)

// Options holds the options for training data and output.
type Options struct {
	Trace  string        // path of the trace; required
	Format string        // format of the trace; empty detects it from the first bytes of the file
	Window *trace.Window // range of seconds whose submissions count; nil means all
	// date at which a trace without dates begins; the zero time if the trace has dates
	Start time.Time
	Model estimate.Options // options for the models; zero fields have their defaults
	Out   string           // path of the output file; empty means that no file is written
	// path of the folder for tables and figures of the terms' shape functions; empty means that they are not written
	Shapes string
	Force  bool // replaces existing files; if false, an existing file is an error
}

// validate checks the options of the models, before learning.
func (o *Options) validate() error {
	model := o.Model
	model.EnsureDefaults()
	return failure.With(failure.Usage, model.Validate())
}

// mayWrite checks, before learning, whether files can be written afterwards.
func (o *Options) mayWrite(env *app.Env, paths ...string) error {
	for k, path := range paths {
		if path == "" {
			continue
		}
		if slices.Contains(paths[:k], path) {
			return failure.Usagef("%s is named for two outputs; name a different file for each", path)
		}
		if err := app.MayWriteFile(env.Files, path, o.Force); err != nil {
			return err
		}
	}
	return nil
}

// dated is a trace with a date for second zero.
type dated struct {
	*trace.Trace
	given bool // the options give the date
}

// readDated reads a trace with at least one job. Jobs are in the order of submission.
func (o *Options) readDated(env *app.Env, path string, window *trace.Window) (*dated, error) {
	read := trace.Options{Format: o.Format, Window: window}
	if err := read.Validate(); err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	all, err := trace.ReadAll(env.Files, path, read)
	if err != nil {
		return nil, traces.Coded(err)
	}
	if len(all.Jobs) == 0 {
		return nil, fmt.Errorf("%s has no jobs to learn from; check the file and the value of option \"window\"", path)
	}
	d := &dated{Trace: all, given: all.Start.IsZero()}
	if d.given {
		if o.Start.IsZero() {
			return nil, failure.Usagef("%s has no dates, but hours and weekdays need dates; "+
				"set the date of second zero with option \"start\", such as 2020-04-01", path)
		}
		d.Start = o.Start
	}
	return d, nil
}

// unneededStart returns an error if a date is given for a trace that has dates.
func (o *Options) unneededStart(needed bool) error {
	if o.Start.IsZero() || needed {
		return nil
	}
	return failure.Usagef("option \"start\" %s: %s already has dates; omit the option",
		o.Start.Format(time.DateOnly), o.Trace)
}

// target returns the form of the target that models learn; the default is TargetPlain.
func (o *Options) target() string { return cmp.Or(o.Model.Target, estimate.TargetPlain) }
