package main

import (
	"github.com/spf13/cobra"
)

// section is a group of commands in the help.
type section struct {
	id, title string
	commands  []*cobra.Command
}

// sections lists graft's commands: a new command is a new file and a line here.
func sections() []section {
	return []section{
		{"train", "Train and adapt:", []*cobra.Command{
			newTrainCommand(),
			newCompareCommand(),
			newFollowCommand(),
			newSurgeryCommand(),
			newDemoCommand(),
			newDataCommand(),
			newReportCommand(),
			newPlotCommand(),
			newServeCommand(),
			newConfigCommand(),
		}},
		{"learn", "Simulate, learn, evaluate:", []*cobra.Command{
			newSimulateCommand(),
			newLearnCommand(),
			newEvaluateCommand(),
			newPipelineCommand(),
			newTableCommand(),
			newVocabCommand(),
			newFleetCommand(),
			newWorkCommand(),
			newTrialCommand(),
		}},
		{"clusters", "Clusters:", []*cobra.Command{
			newClusterCommand(),
			newNodeCommand(),
			newFabricCommand(),
			newTraceCommand(),
		}},
		{"networks", "Networks and weights:", []*cobra.Command{
			newModelCommand(),
			newWeightsCommand(),
			newExportCommand(),
		}},
		{"machine", "Machine:", []*cobra.Command{
			newDoctorCommand(),
			newProfileCommand(),
			newListCommand(),
			newVersionCommand(),
			newCompletionCommand(),
			newManCommand(),
		}},
	}
}

// newRootCommand makes the command line of graft.
func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "graft",
		Short: "Grow a network while it trains",
		Long: `graft grows a network while it trains. When a job gains devices, a learned policy decides where
to deepen or widen the network; surgery makes the change without changing the network's function.
When the job loses devices, the network shrinks, and distillation keeps the learned knowledge.

Data goes to stdout; logs and errors go to stderr, as plain text on a terminal and as JSON lines
elsewhere. With --json, a command prints one JSON object on stdout; on failure it prints
{"error": …} as one line on stderr instead of the plain message. On the first SIGINT or SIGTERM, a
command saves its work and exits; the second signal ends the command at once.

Exit codes:
` + exitHelp(),
		Example: `  graft version
  graft help version`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	for _, group := range sections() {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, command := range group.commands {
			command.GroupID = group.id
			root.AddCommand(command)
		}
	}
	root.Version = builtVersion().Version
	root.SetVersionTemplate("graft {{.Version}}\n")
	root.SetFlagErrorFunc(plainFlagError)
	root.SetHelpCommand(newHelpCommand())
	root.SetHelpCommandGroupID("machine")
	root.InitDefaultHelpCmd()
	complete(root)
	return root
}
