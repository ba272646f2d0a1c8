package main

import (
	"github.com/spf13/cobra"
)

// newFleetCommand makes `graft fleet`. It needs LibTorch only for a manifest of a new simulation.
func newFleetCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "fleet",
		Short: "Supervise, inspect and cancel the workers of simulations and trials",
		Long: `fleet inspects and controls the workers of a simulation or of trials, on this machine or on a
cluster. FOLDER is a run folder of 'graft simulate' or 'graft compare', or of 'graft train' with
several trials. Any process with access to the folder can inspect the workers, and take over their
supervision if the supervisor has died.`,
		Example: `  graft fleet status runs/late
  graft fleet logs runs/compare --follow
  graft fleet attach runs/late`,
	}, newFleetStatusCommand(), newFleetLogsCommand(), newFleetAttachCommand(), newFleetCancelCommand(),
		newFleetManifestCommand())
}
