package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"graft/internal/failure"
	"graft/runner/train"
	"graft/trainer/team"
)

// newFollowCommand makes `graft follow`, for use on machines other than the job's; 'graft train' starts local followers
// itself.
func newFollowCommand() *cobra.Command {
	var o train.FollowOptions
	var join train.JoinOptions
	command := &cobra.Command{
		Use:   "follow --join HOST:PORT --token FILE",
		Short: "Compute a part of each batch for a job on another machine",
		Long: `follow joins the job whose parallel.listen is HOST:PORT, on this or another machine, and computes
a part of each batch. Leader and followers need the same versions of graft and LibTorch, the same
dataset and the same token. The token is the content of a file with at least 16 characters, such
as the output of 'openssl rand -hex 16'. The job's configuration comes from the leader; --set
overrides keys on this machine, such as data.path. follow waits for work, reconnects after a lost
connection, and exits if it finds no leader within --wait.

Traffic is not encrypted: use private addresses in a trusted network, or use a tunnel.

The leader's 'graft train' also starts a process 'graft follow CONFIG' for each additional device
of the leader's machine.`,
		Example: `  graft follow --join 10.0.0.1:7000 --token token
  graft follow --join 10.0.0.1:7000 --token token --device cuda:1 --set data.path=/local/images`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if join.Address != "" {
				if len(args) > 0 {
					return failure.Usagef("--join takes the configuration from the leader; omit %s", args[0])
				}
				join.Set, join.Device = o.Set, o.Device
				return train.Join(command.Context(), environment(command.Context()), join)
			}
			if len(args) == 0 {
				return failure.Usagef("the leader's address is missing; set it with --join")
			}
			return runFollow(command.Context(), args[0], o)
		},
	}
	flags := command.Flags()
	flags.StringVar(&join.Address, "join", "", "address of the job's leader, as HOST:PORT")
	flags.StringVar(&join.Token, "token", "", "file with the leader's token")
	flags.DurationVar(&join.Wait, "wait", time.Minute, "maximum time to search for a leader")
	flags.StringArrayVar(&o.Set, "set", nil, "set a configuration key; repeatable")
	flags.StringVar(&o.Device, "device", "", "training device of this process, such as cuda:0")
	return command
}

func runFollow(ctx context.Context, path string, o train.FollowOptions) error {
	var stat syscall.Stat_t
	if err := syscall.Fstat(team.AnswerFile, &stat); err != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return failure.Usagef(
			"follow CONFIG: file descriptor %d is not a pipe for replies; only 'graft train' starts this command; "+
				"use --join to join a job by hand",
			team.AnswerFile)
	}
	answers := os.NewFile(team.AnswerFile, "answers")
	defer answers.Close()
	// Signals stop the leader, which saves the job and dismisses this follower.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGUSR1)
	return train.Follow(ctx, environment(ctx), path, o, os.Stdin, answers)
}
