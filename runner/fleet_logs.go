package main

import (
	"github.com/spf13/cobra"
	"graft/runner/workers"
)

// newFleetLogsCommand is `graft fleet logs`.
func newFleetLogsCommand() *cobra.Command {
	var o workers.LogsOptions
	command := &cobra.Command{
		Use:   "logs FOLDER",
		Short: "Print the logs of the workers of a simulation or of trials",
		Long: `logs prints the logs of the workers that run in a run folder. With several workers, each line
starts with the worker's number. With --follow, logs also prints new lines until all workers have
exited. For workers on Kubernetes, use 'kubectl logs'.`,
		Example: `  graft fleet logs runs/late --worker 2
  graft fleet logs runs/late --follow`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return workers.Logs(command.Context(), environment(command.Context()), command.OutOrStdout(), args[0], o)
		},
	}
	flags := command.Flags()
	flags.IntVar(&o.Worker, "worker", -1, "number of the worker; -1 prints the logs of all workers")
	flags.BoolVar(&o.Follow, "follow", false, "also print new lines until all workers have exited")
	return command
}
