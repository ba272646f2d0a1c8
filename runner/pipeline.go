package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"graft/results/document"
	"graft/results/report"
	"graft/work/pipeline"
)

func newPipelineCommand() *cobra.Command {
	var o pipeline.Options
	asJSON := false
	command := &cobra.Command{
		Use:   "pipeline CONFIG",
		Short: "Simulate scenarios, let policies learn from them, and judge these",
		Long: `pipeline does in one go what 'graft simulate', 'graft learn' and 'graft evaluate' do:
it runs all sequences of some scenarios, lets structural policies learn from the
tables, and says how they fare beside never adapting, drawing at random, the best fixed
sequence and the best of each table. CONFIG is a file with a section pipeline, which
names the files of the scenarios; the sections run, policy and learn are those of
structural policies that learn. With evaluate.leave_out policies are judged as well by
scenarios, or networks, that they did not learn from.

Each stage is skipped where what it is made from has not changed and what it made is
whole; otherwise it is done again, from what there is. SIGTERM, SIGUSR1 and the first
SIGINT save all that was done and leave with exit code 75; the same command goes on
then, as it does after a kill. What failed is left out: policies learn from complete
tables only, and the exit code is 3.`,
		Example: `  graft pipeline scenarios/small.toml
  graft pipeline scenarios/cifar10.toml --set run.seeds=20 --folder runs/cifar10`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runPipeline(command.Context(), command.OutOrStdout(), args[0], o, asJSON)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.Set, "set", nil, "set a key, such as run.seeds=20; may be given several times")
	flags.StringVar(&o.Folder, "folder", "", "the run folder; empty is pipeline.folder, or runs/ and the file's name")
	flags.BoolVar(&o.Retry, "retry", false, "try again what failed")
	flags.IntVar(&o.Workers, "workers", 0, "how many run side by side in a simulation; 0 is fleet.workers")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

func runPipeline(ctx context.Context, w io.Writer, path string, o pipeline.Options, asJSON bool) error {
	ctx, stop := heedRequeue(ctx)
	defer stop()
	r, err := pipeline.Run(ctx, environment(ctx), path, o)
	switch {
	case r == nil:
		return err
	case asJSON:
		return errors.Join(document.PrintJSON(w, r), err)
	}
	return errors.Join(printPipeline(w, r), err)
}

func printPipeline(w io.Writer, r *pipeline.Result) error {
	d := report.Pipeline(r.Outcome)
	if skipped := r.Skipped(); skipped != "" {
		d.Break()
		d.Say(fmt.Sprintf("skipped: %s: nothing has changed", skipped))
	}
	d.Break()
	d.Say(fmt.Sprintf("results in %s, the policy in %s", r.Folder, r.Policy))
	return d.PrintCompact(w)
}
