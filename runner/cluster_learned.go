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
	flags.StringVar(&o.Trace, "trace", "", "file of the trace")
	flags.StringVar(&o.Format, "format", "", "the trace's format; empty recognises it by the first bytes")
	flags.StringVar(&f.window, "window", "",
		"keep jobs submitted within these seconds, as A..B, either of which may be left out")
	flags.StringVar(&f.start, "start", "",
		"the date of second zero, such as 2020-04-01, of a trace whose seconds have none")
	flags.StringVar(&o.Out, "out", "", "the file that is written")
	flags.StringVar(&o.Shapes, "shapes", "", "write the models' shape functions into this folder, as CSV and SVG")
	flags.StringVar(&o.Model.Target, "target", estimate.TargetPlain,
		"what is learned: plain, the mean; log, the mean by way of logarithms; median")
	flags.Uint64Var(&o.Model.Seed, "seed", 0, "seed of the choice of validation rows")
	flags.IntVar(&o.Model.Workers, "workers", 0,
		"bags learned in parallel, without effect on the result; 0 is one for each processor")
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
	return time.Time{}, failure.Usagef("--%s %s: give a date such as 2020-09-01, or 2020-09-01 12:00:00", flag, text)
}
