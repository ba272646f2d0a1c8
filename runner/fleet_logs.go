package main

import (
	"github.com/spf13/cobra"

	"graft/work/simulate"
)

// newFleetLogsCommand is `graft fleet logs`.
func newFleetLogsCommand() *cobra.Command {
	var o simulate.LogsOptions
	command := &cobra.Command{
		Use:   "logs FOLDER",
		Short: "Print what the workers of a simulation have said",
		Long: `logs prints the logs of the workers of a simulation, of all of them with the worker's
number before each line. With --follow it prints what is added as well, until no worker
lives. Logs of Kubernetes are read by 'kubectl logs'.`,
		Example: `  graft fleet logs runs/late --worker 2
  graft fleet logs runs/late --follow`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return simulate.Logs(command.Context(), environment(command.Context()), command.OutOrStdout(), args[0], o)
		},
	}
	flags := command.Flags()
	flags.IntVar(&o.Worker, "worker", -1, "the number of the only worker; -1 is all")
	flags.BoolVar(&o.Follow, "follow", false, "print what is added, until no worker lives")
	return command
}
