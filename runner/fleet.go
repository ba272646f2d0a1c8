package main

import (
	"github.com/spf13/cobra"
)

// newFleetCommand is `graft fleet`. It needs no LibTorch, but for a manifest of a new
// simulation.
func newFleetCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "fleet",
		Short: "Watch, cancel and describe the workers of a simulation",
		Long: `fleet is about the workers that run the sequences of a simulation, here or on a
cluster. FOLDER is the run folder of 'graft simulate'. Nothing but the folder is
needed: whoever sees it may look, and go on with the workers of somebody who died.`,
		Example: `  graft fleet status runs/late
  graft fleet attach runs/late`,
	}, newFleetStatusCommand(), newFleetLogsCommand(), newFleetAttachCommand(), newFleetCancelCommand(), newFleetManifestCommand())
}
