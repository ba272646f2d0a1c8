package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"graft/cluster/worlds"
	"graft/config"
	"graft/runner/app"
)

// clusterRunOptions are the flags of `graft cluster run`.
type clusterRunOptions struct {
	clusterFlags             // simulation
	app.FolderOptions        // creation of the run folder
	out               string // run folder
	json              bool   // print one object
}

func newClusterRunCommand() *cobra.Command {
	var o clusterRunOptions
	command := &cobra.Command{
		Use:   "run [CONFIG]",
		Short: "Replay a trace with different schedulers and report completion times",
		Long: `run replays the jobs of a trace on the nodes of a cluster under each scheduler, and prints
completion times (submission to end), queueing times and device utilization. Simulations are
event-driven and deterministic: the same inputs give byte-identical results, with any number of
workers.

CONFIG is a TOML file; 'graft config schema --markdown' lists its keys. Every option of the
simulation has a key; flags set some of these keys. Results are written into a run folder, which
'graft report' and 'graft plot' read; SCHEDULER/jobs.csv has a row for each job. Jobs that cannot
run are skipped and counted; the exit code is then 3.

An existing run folder is never overwritten: --resume continues a killed run, with byte-identical
results; --force moves the folder aside.

` + worldHelp(),
		Example: `  graft cluster run --trace jobs.csv --vc-file vc_config.csv --scheduler fifo,sjf
  graft cluster run --trace log.swf --nodes 64 --scheduler backfill
  graft cluster run --data venus --trace september.csv --scheduler all --out runs/venus
  graft cluster run --data venus --trace september.csv --scheduler lucid --compat lucid --json
  graft cluster run --trace jobs.json --speeds speeds.json --scheduler drf,optimus
  graft cluster run --compat pollux --data pollux --trace 0.5/workload-6.csv --scheduler optimus`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			o.file = first(args)
			return runCluster(command.Context(), command.OutOrStdout(), o)
		},
	}
	o.add(command)
	for _, w := range worlds.All() {
		for _, f := range w.Flags {
			if command.Flags().Lookup(f.Name) == nil {
				command.Flags().String(f.Name, "", f.About)
			}
		}
	}
	command.Flags().String("against", "",
		"baseline scheduler, with which the others are compared (default: the first scheduler)")
	command.Flags().Bool("ablate", false,
		"simulate each bug of the published simulator separately, and report its effect")
	command.Flags().StringVar(&o.out, "out", "",
		"run folder (default: the value of run.folder or, without that key, runs/NAME for a trace NAME)")
	command.Flags().BoolVar(&o.Resume, "resume", false,
		"resume the run in the run folder; start a new run if there is none")
	command.Flags().BoolVar(&o.Force, "force", false, "move an existing run folder aside")
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	command.MarkFlagsMutuallyExclusive("resume", "force")
	_ = command.RegisterFlagCompletionFunc("compat", fixedWords(func() []string {
		compats := []string{config.CompatNone}
		for _, w := range worlds.All() {
			compats = append(compats, w.Compats...)
		}
		return compats
	}))
	return command
}

func runCluster(ctx context.Context, w io.Writer, o clusterRunOptions) error {
	return runWorld(ctx, w, o.world(environment(ctx).Files), o)
}
