package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"graft/results/document"
	"graft/work"
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
			live, engine, err := cancel(command.Context(), environment(command.Context()), args[0])
			if err == nil {
				_, err = fmt.Fprintf(command.OutOrStdout(), "%s of %s ended; what was run is kept, and 'graft simulate' goes on with it\n", document.Counted(live, "worker"), engine)
			}
			return err
		},
	}
}

// cancel ends the workers of a simulation, and says how many lived and who ran them.
func cancel(ctx context.Context, env *work.Env, folder string) (live int, engine string, err error) {
	f, err := openBatch(env, folder)
	if err != nil {
		return 0, "", err
	}
	states, err := f.Workers(ctx)
	if err != nil {
		return 0, "", err
	}
	for _, s := range states {
		if s.State.Live() {
			live++
		}
	}
	return live, f.Engine(), f.Cancel(ctx)
}
