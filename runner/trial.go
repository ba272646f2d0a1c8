package main

import (
	"context"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"graft/internal/files"
	"graft/model/graph/trial"
)

// newTrialCommand makes `graft trial`, an internal command.
func newTrialCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "trial",
		Hidden: true,
		Short:  "Run an imported network once, in a limited process",
		Long: `trial runs an imported network for the first time, with limits on memory and processor time, as a
helper process of other commands. trial reads the network from stdin and replies on a file
descriptor.`,
		Example: "  graft trial",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			trace, reply := os.NewFile(trial.TraceFD, "trace"), os.NewFile(trial.ReplyFD, "reply")
			return trial.Serve(files.OS{}, command.InOrStdin(), trace, reply)
		},
	}
}

// startsTrials runs trials as processes of this program.
func startsTrials() {
	trial.Command = func(ctx context.Context) *exec.Cmd {
		program, err := os.Executable()
		c := exec.CommandContext(ctx, program, "trial")
		if err != nil {
			c.Err = err
		}
		return c
	}
}
