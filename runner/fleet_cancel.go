package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"graft/results/document"
	"graft/work/simulate"
)

// newFleetCancelCommand is `graft fleet cancel`.
func newFleetCancelCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel FOLDER",
		Short: "Cancel the workers of a simulation",
		Long: `cancel ends the workers of a simulation, first by a signal that lets them save their work, and
returns when none is alive. Their supervisor does not restart them and exits with code 75.
Completed work is kept: 'graft simulate' goes on with it.`,
		Example: "  graft fleet cancel runs/late",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			live, engine, err := simulate.Cancel(command.Context(), environment(command.Context()), args[0])
			if err == nil {
				_, err = fmt.Fprintf(command.OutOrStdout(), "%s of %s ended; what was run is kept, and 'graft simulate' goes on with it\n", document.Plural(live, "worker"), engine)
			}
			return err
		},
	}
}
