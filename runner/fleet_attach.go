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
		Short: "Look after the workers of a simulation until it is done",
		Long: `attach does what 'graft simulate' does once it has started workers: it starts those
again that were lost, shows how far they are, collects the table, and prints what came
out, with the same exit codes. One process at a time may. To stop it leaves workers of
Slurm alone, and whoever attaches next goes on; local ones save their work and end.
Pods of Kubernetes are looked after by their cluster, and only watched.`,
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
	flags.DurationVar(&every, "every", 0, "how often workers are looked at; 0 is 200ms for local ones and 10s for others")
	return command
}
