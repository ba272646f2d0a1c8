package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"graft/results/document"
)

// newFleetCancelCommand is `graft fleet cancel`.
func newFleetCancelCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel FOLDER",
		Short: "End the workers of a simulation",
		Long: `cancel ends the workers of a simulation, first kindly, and returns when none is left.
Those that heed it save what they run. Whoever looks after them starts none again and
ends with 75. What was run is kept: 'graft simulate' goes on with it.`,
		Example: "  graft fleet cancel runs/late",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runFleetCancel(command.Context(), command.OutOrStdout(), args[0])
		},
	}
}

func runFleetCancel(ctx context.Context, w io.Writer, folder string) error {
	f, err := openBatch(folder)
	if err != nil {
		return err
	}
	states, err := f.Workers(ctx)
	if err != nil {
		return err
	}
	live := 0
	for _, s := range states {
		if s.State.Live() {
			live++
		}
	}
	if err := f.Cancel(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s of %s ended; what was run is kept, and 'graft simulate' goes on with it\n", document.Counted(live, "worker"), f.Engine())
	return err
}
