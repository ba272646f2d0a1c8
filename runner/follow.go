package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"graft/results/failure"
	"graft/trainer"
	"graft/work/train"
)

// newFollowCommand is `graft follow`, which people have no use for.
func newFollowCommand() *cobra.Command {
	var o train.FollowOptions
	command := &cobra.Command{
		Use:    "follow CONFIG",
		Hidden: true,
		Short:  "Train as a follower of the process that started this one",
		Long: `follow is the process that 'graft train' starts for each device but the first, if a job trains
on several. It executes the commands on its standard input until that ends.`,
		Example: "  graft follow runs/job/config.resolved.toml --device cuda:1 3> >(cat)",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runFollow(command.Context(), args[0], o)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.Set, "set", nil, "set a key; may be given several times")
	flags.StringVar(&o.Device, "device", "", "where this process trains")
	return command
}

func runFollow(ctx context.Context, path string, o train.FollowOptions) error {
	var stat syscall.Stat_t
	if err := syscall.Fstat(trainer.AnswerFile, &stat); err != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return failure.Usagef("follow is started by 'graft train', which opens file %d as a pipe for its answers", trainer.AnswerFile)
	}
	answers := os.NewFile(trainer.AnswerFile, "answers")
	defer answers.Close()
	// Whoever stops the job stops its leader, which saves it and lets this one go.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGUSR1)
	return train.Follow(environment(ctx), path, o, os.Stdin, answers)
}
