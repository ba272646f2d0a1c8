package main

import (
	"github.com/spf13/cobra"
)

// commands is the list of graft's commands: a new command is a new file and a line here.
func commands() []*cobra.Command {
	return []*cobra.Command{
		newVersionCommand(),
		newTrainCommand(),
		newCompareCommand(),
		newSimulateCommand(),
		newFleetCommand(),
		newClusterCommand(),
		newNodeCommand(),
		newFabricCommand(),
		newWorkCommand(),
		newTrialCommand(),
		newLearnCommand(),
		newPipelineCommand(),
		newFollowCommand(),
		newDataCommand(),
		newModelCommand(),
		newSurgeryCommand(),
		newEvaluateCommand(),
		newVocabCommand(),
		newTableCommand(),
		newTraceCommand(),
		newReportCommand(),
		newServeCommand(),
		newPlotCommand(),
		newWeightsCommand(),
		newExportCommand(),
		newConfigCommand(),
		newProfileCommand(),
		newDoctorCommand(),
		newDemoCommand(),
		newCompletionCommand(),
		newManCommand(),
	}
}

// newRootCommand is the command line of graft.
func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "graft",
		Short: "Grow a network while it trains",
		Long: `graft grows a network while it trains. When a job is given more devices, a
learned policy says where to deepen or widen the network; surgery does so without
changing what the network computes. When devices are taken away the network
shrinks back and keeps what it learned.

Data goes to stdout, logs and errors to stderr: plain lines on a terminal, JSON
lines elsewhere. A command that is called with --json prints one JSON object on
stdout; should it fail, it prints {"error": …} as one line on stderr instead of
the plain message. The first SIGINT or SIGTERM lets a command save its work, the
second ends it at once.

Exit codes:
` + exitHelp(),
		Example: `  graft version
  graft help version`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(commands()...)
	root.SetHelpCommand(newHelpCommand())
	root.InitDefaultHelpCmd()
	complete(root)
	return root
}
