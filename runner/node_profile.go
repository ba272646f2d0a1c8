package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"graft/internal/failure"
	"graft/internal/words"
	"graft/report"
	"graft/report/runs"
	"graft/runner/node"
)

// nodeProfileOptions are the flags of `graft node profile`.
type nodeProfileOptions struct {
	nodeOptions                     // common flags of a machine's tasks
	profile     node.ProfileOptions // options for the measurement
}

func newNodeProfileCommand() *cobra.Command {
	var o nodeProfileOptions
	command := &cobra.Command{
		Use:   "profile CONFIG",
		Short: "Measure the speed of tasks alone and in pairs on one device",
		Long: `profile runs each task of CONFIG (table [[task]]) alone on the first device. profile then runs
each pair of tasks together, including each task with a copy of itself, if both tasks fit into
memory. A pair runs for at least --seconds, and until each task has completed a whole run next to
the other task; tasks that end earlier are restarted. The speed of a task in a pair is relative to
the task's speed when it runs alone. Tasks of the same kind are measured once.

The run folder contains three tables. colocate_info.csv lists the measured slowdowns, which 'graft
node simulate' applies if machine.profiles names the file. single_data.csv gives each task the
label that the scheduler Lucid uses to pack jobs: 0 if the tasks paired with it run at a mean
relative speed of at least 0.95, 1 if they run at a mean of at least 0.85, and 2 otherwise.
profile.csv has every measurement, with utilization, memory and power of the device if known.
--resume runs only missing measurements.

A task's command must do the same work in each run. Each run gets a new folder in $GRAFT_NODE and
a new name in $GRAFT_TASK; a task that runs 'graft train' must write its run folder into this new
folder. The exit code is 3 if a task failed or took too long; the task's logs stay in the run
folder. Pairs that do not fit into memory are listed, but do not count as failures.`,
		Example: `  graft node profile tasks.toml
  graft node profile tasks.toml --repeats 5 --seconds 30
  graft node profile tasks.toml --pairs none --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runNodeProfile(command.Context(), command.OutOrStdout(), args[0], o)
		},
	}
	o.add(command)
	o.profile.EnsureDefaults()
	flags := command.Flags()
	flags.IntVar(&o.profile.Repeats, "repeats", o.profile.Repeats, "number of repetitions of each measurement")
	flags.StringVar(&o.profile.Pairs, "pairs", o.profile.Pairs, "pairs of tasks to measure: all, or none")
	flags.Float64Var(&o.profile.Seconds, "seconds", o.profile.Seconds, "minimum time of a measurement, in seconds")
	flags.Float64Var(&o.profile.Most, "most-seconds", o.profile.Most,
		"maximum time of a measurement, in seconds; longer tasks are not measured")
	return command
}

func runNodeProfile(ctx context.Context, w io.Writer, path string, o nodeProfileOptions) error {
	if err := o.profile.Validate(); err != nil { // flags have defaults, so zero was given explicitly
		return err
	}
	env := environment(ctx)
	c, err := o.read(env, path)
	if err != nil {
		return err
	}
	ctx, stop := heedRequeue(ctx)
	defer stop()
	o.profile.FolderOptions = o.FolderOptions
	outcome, err := node.Profile(ctx, env, c, path, o.profile)
	if err := show(w, o.json, outcome, err,
		func(w io.Writer, r *runs.NodeProfileOutcome) error { return report.PrintNodeProfile(r, w) }); err != nil {
		return err
	}
	failed := slices.DeleteFunc(outcome.Left, func(f runs.NodeProfileFailed) bool { return f.Full })
	if len(failed) > 0 {
		return failure.With(failure.Partial, fmt.Errorf(
			"profile tasks: %s failed; see the report for the causes and %s for the logs",
			words.Plural(len(failed), "measurement"), outcome.Folder))
	}
	return nil
}
