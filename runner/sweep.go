package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"graft/internal/failure"
	"graft/report"
	"graft/runner/sweep"
)

// sweepFlags adds the flags of trials and of the workers that run them.
func sweepFlags(command *cobra.Command, o *sweep.Options, engines string) {
	flags := command.Flags()
	flags.StringVar(&o.Engine, "engine", "",
		"engine that starts the trial workers: "+engines+" (default: the value of fleet.engine)")
	flags.IntVar(&o.Workers, "workers", 0, "number of trial workers; 0 means the value of fleet.workers")
}

// trialFlags adds the flags that turn a job into several trials.
func trialFlags(command *cobra.Command, o *sweep.Options) {
	flags := command.Flags()
	flags.IntVar(&o.Seeds, "seeds", 0, "number of seeds to run the job with, starting at run.seed")
	flags.StringArrayVar(&o.Sweep, "sweep", nil,
		"values of a key to sweep, such as optimizer.lr=0.1,0.01; several --sweep flags run all combinations")
	flags.StringVar(&o.Cases, "cases", "", "TOML file of cases, with one table of keys and values per case")
}

// isSweep reports whether options ask for trials.
func isSweep(command *cobra.Command) bool {
	flags := command.Flags()
	return flags.Changed("seeds") || flags.Changed("sweep") || flags.Changed("cases")
}

// soloFlags are the flags of a job that trials do not support.
var soloFlags = []string{"listen", "listen-anywhere", "token-file", "tensorboard"}

// runSweep runs the trials of a job.
func runSweep(ctx context.Context, command *cobra.Command, path string, o sweep.Options, asJSON bool) error {
	if command.Flags().Changed("seeds") && o.Seeds < 1 {
		return failure.Usagef("--seeds is %d; must be at least 1", o.Seeds)
	}
	for _, name := range soloFlags {
		if command.Flags().Changed(name) {
			return failure.Usagef("--%s applies to a single job; omit it, or omit --seeds, --sweep and --cases", name)
		}
	}
	ctx, stop := heedRequeue(ctx)
	defer stop()
	r, err := sweep.Run(ctx, environment(ctx), path, o)
	return show(command.OutOrStdout(), asJSON, r, err, printSweep)
}

// printSweep prints the outcome of trials.
func printSweep(w io.Writer, r *sweep.Result) error { return report.PrintSweep(r.Outcome, r.Folder, w) }
