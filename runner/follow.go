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
		Short: "Train a part of each batch of a job on another machine",
		Long: `follow joins a job whose parallel.listen is HOST:PORT, on this or another machine, and trains a
part of each batch. Leader and followers need the same graft, the same LibTorch, the same images and
the same token: a file with at least 16 characters, such as those of 'openssl rand -hex 16'. The job's
configuration comes from the leader; --set says what is different here, such as data.path. It
waits for work, joins again after a lost connection, and ends when no leader was there for a while.

Nothing is encrypted: addresses must be private ones, of a trusted network or of a tunnel.

'graft train' itself starts follow with a CONFIG for each further device of its own machine.`,
		Example: `  graft follow --join 10.0.0.1:7000 --token token
  graft follow --join 10.0.0.1:7000 --token token --device cuda:1 --set data.path=/local/images`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if join.Address != "" {
				if len(args) > 0 {
					return failure.Usagef("option join takes the configuration from the leader; leave out %s", args[0])
				}
				join.Set, join.Device = o.Set, o.Device
				return train.Join(command.Context(), environment(command.Context()), join)
			}
			if len(args) == 0 {
				return failure.Usagef("no leader is given; name the address at which it listens with option join")
			}
			return runFollow(command.Context(), args[0], o)
		},
	}
	flags := command.Flags()
	flags.StringVar(&join.Address, "join", "", "address at which the job's leader listens")
	flags.StringVar(&join.Token, "token", "", "file of the token that the leader has too")
	flags.DurationVar(&join.Wait, "wait", time.Minute, "how long a leader is looked for")
	flags.StringArrayVar(&o.Set, "set", nil, "set a key; repeatable")
	flags.StringVar(&o.Device, "device", "", "where this process trains")
	return command
}

func runFollow(ctx context.Context, path string, o train.FollowOptions) error {
	var stat syscall.Stat_t
	if err := syscall.Fstat(team.AnswerFile, &stat); err != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return failure.Usagef("follow is started by 'graft train', which opens file %d as a pipe for its answers",
			team.AnswerFile)
	}
	answers := os.NewFile(team.AnswerFile, "answers")
	defer answers.Close()
	// Signals stop the leader, which saves the job and dismisses this follower.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGUSR1)
	return train.Follow(ctx, environment(ctx), path, o, os.Stdin, answers)
}
