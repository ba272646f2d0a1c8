package main

import (
	"time"

	"github.com/spf13/cobra"

	"graft/cluster/estimate"
	"graft/internal/failure"
	"graft/runner/estimates"
)

// learnedFlags are the common flags of commands that learn from a trace, except flags that set options directly.
type learnedFlags struct {
	window string // seconds, as A..B; empty means all
	start  string // date of second zero, for traces without dates
	json   bool   // print one object
}

func (f *learnedFlags) addFlags(command *cobra.Command, o *estimates.Options) {
	flags := command.Flags()
	flags.StringVar(&o.Trace, "trace", "", "trace file")
	flags.StringVar(&o.Format, "format", "", "trace format; if empty, it is detected from the first bytes of the file")
	flags.StringVar(&f.window, "window", "",
		"range of submission times to keep, in seconds, as A..B; A or B may be omitted")
	flags.StringVar(&f.start, "start", "",
		"calendar date of time 0 in a trace without dates, such as 2020-04-01")
	flags.StringVar(&o.Out, "out", "", "output file")
	flags.StringVar(&o.Shapes, "shapes", "", "output folder for the models' shape functions, as CSV and SVG files")
	flags.StringVar(&o.Model.Target, "target", estimate.TargetPlain,
		"statistic to predict: plain (mean), log (mean of logarithms) or median")
	flags.Uint64Var(&o.Model.Seed, "seed", 0, "random seed for selecting validation rows")
	flags.IntVar(&o.Model.Workers, "workers", 0,
		"number of bagged models trained in parallel; 0 means one per processor; the results do not depend on this "+
			"number")
	flags.BoolVar(&o.Force, "force", false, "replace existing files")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	_ = command.MarkFlagRequired("out")
	_ = command.RegisterFlagCompletionFunc("format", fixedWords(traceFormats))
	_ = command.RegisterFlagCompletionFunc("target",
		fixedWords(func() []string {
			return []string{estimate.TargetPlain, estimate.TargetLog, estimate.TargetMedian}
		}))
}

// read parses the flags that do not set options directly.
func (f *learnedFlags) read(o *estimates.Options) (err error) {
	if o.Window, err = windowOf(f.window); err != nil {
		return err
	}
	o.Start, err = dateOf("start", f.start)
	return err
}

// dateOf reads a date, or a date and a time. An empty text is the zero time.
func dateOf(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.DateTime} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, failure.Usagef("--%s %s: expected a date such as 2020-09-01, or 2020-09-01 12:00:00", flag,
		text)
}
