package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"graft/internal/words"
	"graft/runner/app"
	"graft/runner/workers"
)

// newFleetCancelCommand is `graft fleet cancel`.
func newFleetCancelCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel FOLDER",
		Short: "Cancel the workers of a simulation or of trials",
		Long: `cancel stops all workers of a run folder and returns when they have exited. cancel first sends a
signal, so that the workers save their work before they exit. The supervisor does not restart
cancelled workers, and exits with code 75. Completed work is kept: 'graft simulate', 'graft train
--resume' and 'graft compare --resume' continue from the completed work.`,
		Example: "  graft fleet cancel runs/late",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			live, engine, err := workers.Cancel(command.Context(), environment(command.Context()), args[0])
			if err == nil {
				_, err = fmt.Fprintf(command.OutOrStdout(),
					"%s of %s ended; completed work is kept, and %s continues from it\n", words.Plural(live, "worker"),
					engine, beginner(environment(command.Context()), args[0]))
			}
			return err
		},
	}
}

// beginner returns the command that continues a run folder.
func beginner(env *app.Env, folder string) string {
	if workers.IsSweep(env, folder) {
		return "the same command with --resume"
	}
	return "'graft simulate'"
}
