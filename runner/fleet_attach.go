package main

import (
	"time"

	"github.com/spf13/cobra"

	"graft/work/simulate"
)

// newFleetAttachCommand is `graft fleet attach`.
func newFleetAttachCommand() *cobra.Command {
	every, asJSON := time.Duration(0), false
	command := &cobra.Command{
		Use:   "attach FOLDER",
		Short: "Supervise the workers of a simulation until it ends",
		Long: `attach does what 'graft simulate' does after it has started workers: it restarts lost workers,
shows the progress, collects the table and prints the results, with the same exit codes. Only
one process at a time can supervise. To stop it leaves the workers of Slurm running, and
another attach goes on; local workers save their work and end. Pods of Kubernetes are
supervised by their cluster; attach follows them and collects the table.`,
		Example: `  graft simulate late.toml --engine slurm && graft fleet attach runs/late
  graft fleet attach runs/late --every 1m`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			ctx, stop := heedRequeue(command.Context())
			defer stop()
			r, err := simulate.Attach(ctx, environment(ctx), args[0], every)
			return show(command.OutOrStdout(), asJSON, r, err, printSimulation)
		},
	}
	flags := command.Flags()
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	flags.DurationVar(&every, "every", 0, "polling interval; 0 is 200ms for local workers and 10s for others")
	return command
}
