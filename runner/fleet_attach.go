package main

import (
	"time"

	"github.com/spf13/cobra"

	"graft/runner/simulate"
	"graft/runner/sweep"
	"graft/runner/workers"
)

// newFleetAttachCommand is `graft fleet attach`.
func newFleetAttachCommand() *cobra.Command {
	every, asJSON := time.Duration(0), false
	command := &cobra.Command{
		Use:   "attach FOLDER",
		Short: "Supervise the workers of a simulation or of trials until they end",
		Long: `attach supervises workers that 'graft simulate', 'graft train' or 'graft compare' has started.
attach restarts lost workers, shows progress, collects and prints the results, and exits with the
same codes as these commands. Only one process at a time can supervise the workers. If attach is
stopped, Slurm workers keep running, and another attach can supervise them. Local workers save
their work and exit. Kubernetes supervises its own pods; attach follows the pods and collects
their results into a table.`,
		Example: `  graft simulate late.toml --engine slurm && graft fleet attach runs/late
  graft fleet attach runs/late --every 1m`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			ctx, stop := heedRequeue(command.Context())
			defer stop()
			env, w := environment(ctx), command.OutOrStdout()
			if workers.IsSweep(env, args[0]) {
				r, err := sweep.Attach(ctx, env, args[0], every)
				return show(w, asJSON, r, err, printSweep)
			}
			r, err := simulate.Attach(ctx, env, args[0], every)
			return show(w, asJSON, r, err, printSimulation)
		},
	}
	flags := command.Flags()
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	flags.DurationVar(&every, "every", 0, "polling interval; 0 means 200ms for local workers and 10s for other workers")
	return command
}
