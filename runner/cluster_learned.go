package main

import (
	"time"

	"github.com/spf13/cobra"

	"graft/cluster/estimate"
	"graft/results/failure"
	"graft/work/estimates"
)

// learnedFlags are the flags of commands that learn from a trace.
type learnedFlags struct {
	trace   string // file
	format  string // of the trace; empty is to tell it
	window  string // seconds, as A..B; empty is all
	start   string // date of second zero, of traces without dates
	out     string // file that is written
	shapes  string // folder for shape functions; empty is none
	target  string // what of the target is learned
	seed    uint64 // of the rows that are held back
	workers int    // bags at once
	force   bool   // replace files
	json    bool   // print one object
}

func (f *learnedFlags) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.trace, "trace", "", "file of the trace")
	flags.StringVar(&f.format, "format", "", "the trace's format; empty is to tell it by the first bytes")
	flags.StringVar(&f.window, "window", "", "keep jobs submitted within these seconds, as A..B, either of which may be left out")
	flags.StringVar(&f.start, "start", "", "the date of second zero, such as 2020-04-01, of a trace whose seconds have none")
	flags.StringVar(&f.out, "out", "", "the file that is written")
	flags.StringVar(&f.shapes, "shapes", "", "write what models say of each feature into this folder, as CSV and SVG")
	flags.StringVar(&f.target, "target", estimate.TargetPlain, "what is learned: plain, the mean; log, the mean by way of logarithms; median")
	flags.Uint64Var(&f.seed, "seed", 0, "of the rows that are held back while learning")
	flags.IntVar(&f.workers, "workers", 0, "how many bags are learned side by side, which changes no result; 0 is as many as processors")
	flags.BoolVar(&f.force, "force", false, "replace files that are there")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	_ = command.MarkFlagRequired("out")
	_ = command.RegisterFlagCompletionFunc("format", words(traceFormats))
	_ = command.RegisterFlagCompletionFunc("target", words(func() []string { return []string{estimate.TargetPlain, estimate.TargetLog, estimate.TargetMedian} }))
}

// options are what the flags say.
func (f *learnedFlags) options() (estimates.Options, error) {
	o := estimates.Options{Trace: f.trace, Format: f.format, Out: f.out, Shapes: f.shapes, Force: f.force, Model: estimate.Options{Target: f.target, Seed: f.seed, Workers: f.workers}}
	var err error
	if o.Window, err = windowOf(f.window); err != nil {
		return o, err
	}
	o.Start, err = dateOf("start", f.start)
	return o, err
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
