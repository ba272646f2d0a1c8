package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"graft/report"
	"graft/runner/pipeline"
)

func newPipelineCommand() *cobra.Command {
	var o pipeline.Options
	asJSON := false
	command := &cobra.Command{
		Use:   "pipeline CONFIG",
		Short: "Run a whole study: scenarios and policies learned from them, or trials of several jobs",
		Long: `pipeline runs 'graft simulate', 'graft learn' and 'graft evaluate' in one command. It simulates
all action sequences of several scenarios, which gives a table for each scenario. It trains
structural policies on these tables. It then compares the policies with four baselines: no
adaptation, random actions, the best fixed sequence, and the optimum of each table. CONFIG is a
file with a section [pipeline], which lists the scenario files. The sections [run], [policy] and
[learn] configure how the structural policies are trained. With evaluate.leave_out, policies are
also evaluated on scenarios or networks that were not used to train them.

With [[pipeline.trials]], pipeline runs trials of several jobs instead, as 'graft train --cases
--sweep --seeds' does for one job. Each entry has its own run folder. An entry with the key tune
first selects the values of a key, such as the learning rate, for each of its cases. --only runs
some of the entries.

A stage is skipped if its inputs are unchanged and its output is complete; otherwise it runs again
and reuses existing work. On SIGTERM, SIGUSR1 or the first SIGINT, pipeline saves all work and
exits with code 75. The same command resumes a stopped or killed pipeline; --force starts the
pipeline over. If a sequence fails, its table is incomplete: policies are then trained only on the
complete tables, and the exit code is 3. If a trial fails, the other trials run, and the exit code
is 3; the same command retries failed trials.`,
		Example: `  graft pipeline scenarios/small.toml
  graft pipeline scenarios/cifar10.toml --set run.seeds=20 --folder runs/cifar10
  graft pipeline studies/growth/growth.toml --only plain --workers 8`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runPipeline(command.Context(), command.OutOrStdout(), args[0], o, asJSON)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.Set, "set", nil, "set a configuration key, such as run.seeds=20; repeatable")
	flags.StringVar(&o.Folder, "folder", "",
		"run folder (default: the value of pipeline.folder or, without that key, runs/NAME for a file NAME.toml)")
	flags.BoolVar(&o.Force, "force", false, "move an existing run folder aside and start over")
	flags.BoolVar(&o.Retry, "retry", false, "retry failed sequences")
	flags.IntVar(&o.Workers, "workers", 0,
		"number of workers per simulation or per entry of trials; 0 means the value of fleet.workers")
	flags.StringArrayVar(&o.Only, "only", nil,
		"name of an entry of pipeline.trials to run; repeatable (default: all)")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

func runPipeline(ctx context.Context, w io.Writer, path string, o pipeline.Options, asJSON bool) error {
	ctx, stop := heedRequeue(ctx)
	defer stop()
	r, err := pipeline.Run(ctx, environment(ctx), path, o)
	return show(w, asJSON, r, err, printPipeline)
}

func printPipeline(w io.Writer, r *pipeline.Result) error {
	d := report.Pipeline(r.Outcome)
	if skipped := r.Skipped(); skipped != "" {
		d.Break()
		d.Say(fmt.Sprintf("skipped unchanged stages: %s", skipped))
	}
	d.Break()
	where := fmt.Sprintf("results in %s", r.Folder)
	if r.Policy != "" {
		where += ", the policy in " + r.Policy
	}
	d.Say(where)
	return d.PrintCompact(w)
}
