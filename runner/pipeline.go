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
		Short: "Simulate scenarios, train policies on them, and evaluate the policies",
		Long: `pipeline runs 'graft simulate', 'graft learn' and 'graft evaluate' in one command. It simulates
all action sequences of several scenarios, which gives a table for each scenario. It trains
structural policies on these tables. It then compares the policies with four baselines: no
adaptation, random actions, the best fixed sequence, and the optimum of each table. CONFIG is a
file with a section [pipeline], which lists the scenario files. The sections [run], [policy] and
[learn] configure how the structural policies are trained. With evaluate.leave_out, policies are
also evaluated on scenarios or networks that were not used to train them.

A stage is skipped if its inputs are unchanged and its output is complete; otherwise it runs again
and reuses existing work. On SIGTERM, SIGUSR1 or the first SIGINT, pipeline saves all work and
exits with code 75. The same command resumes a stopped or killed pipeline; --force starts the
pipeline over. If a sequence fails, its table is incomplete: policies are then trained only on the
complete tables, and the exit code is 3.`,
		Example: `  graft pipeline scenarios/small.toml
  graft pipeline scenarios/cifar10.toml --set run.seeds=20 --folder runs/cifar10`,
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
	flags.IntVar(&o.Workers, "workers", 0, "number of workers per simulation; 0 means the value of fleet.workers")
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
	d.Say(fmt.Sprintf("results in %s, the policy in %s", r.Folder, r.Policy))
	return d.PrintCompact(w)
}
